# SPDX-License-Identifier: GPL-3.0-or-later
# Tokens are shown once and kept as hashes; the audit log is verified line by line.
cellar serve token create tokens --name anna --role analyst --role auditor --analyst 'team a' \
    --expires 2027-12-31 | sed 's/^cellar_[A-Za-z0-9_-]\{43\}$/cellar_SECRET/'
secret=$(cellar serve token create tokens --name bert --json | sed -n 's/.*"token": "\([^"]*\)".*/\1/p')
echo ${#secret}
grep -c "$secret" tokens
cellar serve token list tokens | sed 's/20[0-9-]\{8\}  */DAY /'
cellar serve token list tokens --json | sed 's/"created": "[-0-9]*"/"created": DAY/'
cellar serve token revoke tokens --name anna
cellar serve token list tokens | wc -l
for arguments in "create tokens --name bert" "create tokens" "create tokens --name c --role king" \
    "revoke tokens --name anna" "make tokens" "list" "list none" "list tokens --listen x" \
    "create tokens --name c --role analyst --expires never"; do
    cellar serve token $arguments 2>&1
    echo "exit $?"
done
cat >audit <<'END'
{"number":1,"time":"2026-11-18T11:06:40Z","who":"anna","action":"draw","dataset":"census","table":"region^1*sex","decision":"drawn","cost":"rho 0.03125","chain":"8f5ce8b222f1061e6028b8127f107b4d348d58b3cd2b1a4a4700fad26c16e379"}
{"number":2,"time":"2026-11-18T11:06:41Z","who":"anna","action":"draw","dataset":"census","table":"region*age","decision":"refused","rule":"few","chain":"a6f8acb4d36ee36f7ff355c61c72fe8405fef38c86b426b44a3926a061eafe54"}
END
cellar serve audit audit
cellar serve audit audit --json
cellar serve audit audit --known 1:8f5ce8b222f1061e6028b8127f107b4d348d58b3cd2b1a4a4700fad26c16e379 | tail -n 1
cellar serve audit audit --known 2:8f5ce8b222f1061e6028b8127f107b4d348d58b3cd2b1a4a4700fad26c16e379 2>&1
echo "exit $?"
sed -i 's/refused/allowed/' audit
cellar serve audit audit 2>&1
echo "exit $?"
cellar serve audit audit --known 7 2>&1
echo "exit $?"
