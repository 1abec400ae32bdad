# SPDX-License-Identifier: GPL-3.0-or-later
# What a collection over files begins with, for cases to source: the keys of the three roles, what
# they tell of them, the key of a gateway that sends for others, and an empty spool.
for role in curator shuffler analyst; do
    cellar key create $role.key >/dev/null
    cellar collect $role identity --key $role.key -o $role.pub
done
cellar key create gateway.key >/dev/null
mkdir spool
