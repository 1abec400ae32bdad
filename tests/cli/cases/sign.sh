# SPDX-License-Identifier: GPL-3.0-or-later
# A release goes into a folder, the folder is signed, and whoever has the public key checks it.
cellar key create agency.key >key.txt
id=$(sed -n 's/^id //p' key.txt)
hide() { sed "s/$id/ID/"; }
cellar key public agency.key -o agency.pub
sed "s/$id/ID/; s/^ed25519 [0-9a-f]\{64\}\$/ed25519 KEY/" agency.pub
ls -l agency.pub | cut -c1-10
mkdir pack
printf 'region,count\nnorth,5\nsouth,0\n' >table.csv
cellar protect table.csv --mechanism discrete-laplace:epsilon=1 --negatives keep --domain-public \
    -o pack/release.csv 2>/dev/null
cellar sign pack --key agency.key 2>&1 | hide
cellar sign pack --key agency.key --accept unaccounted 2>&1 | hide
sed "s/$id/ID/; s/^ed25519 .*/ed25519 SIGNATURE/" pack/manifest.sig
(cd pack && sha256sum -c manifest.sha256)
cellar verify-release pack --key agency.pub 2>&1 | hide
cellar verify-release pack --key agency.pub --json 2>/dev/null | hide
# What the signer accepts is signed, too.
cp pack/manifest.sig kept
sed -i 's/^accepts unaccounted/accepts nothing/' pack/manifest.sig
cellar verify-release pack --key agency.pub 2>&1 | hide
mv kept pack/manifest.sig
cellar verify-release pack --key agency.key 2>&1
echo "exit $?"
echo 'east,1' >>pack/release.csv
cellar verify-release pack --key agency.pub 2>&1
echo "exit $?"
cellar sign pack --key agency.key 2>&1
echo "exit $?"
rm pack/manifest.sha256
cp table.csv pack
chmod 600 pack/table.csv
cellar sign pack --key agency.key 2>&1
echo "exit $?"
cellar sign pack 2>&1
cellar sign table.csv --key agency.key 2>&1
cellar key public agency.key -o agency.pub 2>&1
echo "exit $?"
