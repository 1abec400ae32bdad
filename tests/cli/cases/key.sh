# SPDX-License-Identifier: GPL-3.0-or-later
# Key files are private, tell an id and never the secret, and are refused when others can read them.
cellar key create k --edition 'census 2026' | sed 's/^id [0-9a-f]*$/id ID/; s/^created .*/created DAY/'
ls -l k | cut -c1-10
old=$(cellar key show k | sed -n 's/^id //p')
cellar key create k 2>&1
echo "exit $?"
cellar key rotate k | grep -c "$old"
cellar key show "k.$old" | grep -c "$old"
cellar key show k --json | sed 's/"id": "[0-9a-f]\{16\}"/"id": ID/; s/"created": "[-0-9]*"/"created": DAY/'
secret=$(sed -n 's/^secret //p' k)
cellar key show k | grep -c "$secret"
chmod 644 k
cellar key show k 2>&1
echo "exit $?"
chmod 600 k
echo x >>k
for arguments in "show k" "show none" "make k" "show" "show k --edition e"; do
    cellar key $arguments 2>&1
    echo "exit $?"
done
