# SPDX-License-Identifier: GPL-3.0-or-later
# What a participant asks for binds every round, its budget holds over all collections, and every role has a key of its own.
. "$DATA/collection.sh"
printf 'code\nF\nM\n' >sex.csv
printf 'code\nflu\nHIV\n' >dx.csv
printf 'sex,dx\nF,HIV\nM,flu\n' >people.csv
printf 'sex,dx\nF,flu\nM,flu\n' >changed.csv
invite() { # FOLDER OPTIONS...
    mkdir -p $1
    folder=$1
    shift
    cellar collect curator invite --spool $folder --key curator.key --shuffler shuffler.pub --analyst analyst.pub \
        --title Policy --people 2 --k 1 --exposure 1 --domain sex=sex.csv --domain dx=dx.csv "$@"
    echo "invited: $?"
}
send() { # FOLDER FILE OPTIONS...
    folder=$1 file=$2
    shift 2
    cellar collect participant send $file --spool $folder --key gateway.key --curator curator.pub "$@" 2>&1
    echo "sent: $?, waiting: $(ls $folder/inbox-* | grep -c '^[0-9a-f]\{32\}$')"
}
invite exact --order 2
for asked in '--never dx --least-people 1000' '--never dx' '--least-people 3' '--least-k 2' '--most-exposure 0.5' '--most-epsilon 9'; do
    echo "asks for $asked"
    send exact people.csv $asked
done
cellar collect participant check --spool exact --key gateway.key --curator curator.pub --never dx
echo "checked: $?"
send exact people.csv --never salary --least-people 2
cellar collect shuffler run --spool exact --key shuffler.key --curator curator.pub
cellar collect curator ask --spool exact --key curator.key
echo "a question"
send exact people.csv --never dx
send exact people.csv --never 'salary, DX '
send exact people.csv --least-people 1000
send exact people.csv
echo "randomised, over collections"
invite first --epsilon 1.5 --delta 0.1
invite second --epsilon 0.5 --delta 0.1
send first people.csv --never dx
send first people.csv --budget 3.5
rm first/inbox-1/*
send first people.csv
send second people.csv
stat -c '%a %n' gateway.key.budget
cellar collect participant check --spool second --key gateway.key --curator curator.pub | tail -n 1
send second people.csv --budget 4
rm second/inbox-1/*
send second changed.csv
invite third
send third people.csv
grep -c '^sent' gateway.key.budget
echo "one key for two roles"
cellar collect analyst identity --key curator.key -o twice.pub
cellar collect curator invite --spool spool --key curator.key --shuffler shuffler.pub --analyst twice.pub \
    --title Twice --people 2 --k 1 --exposure 1 --domain sex=sex.csv 2>&1
echo "invited: $?"
cp shuffler.key gateway.key
send third people.csv
