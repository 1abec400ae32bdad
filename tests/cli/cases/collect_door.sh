# SPDX-License-Identifier: GPL-3.0-or-later
# The door says why it does not open, and what is no address or column; what goes through it is tested with browsers (participant/).
. "$DATA/collection.sh"
printf 'code\nF\nM\n' >sex.csv
door() { timeout 20 cellar collect door run --spool spool --curator curator.pub "$@" 2>&1 | grep -v '^Usage\|^  '; }
door --origin https://survey.example
for domain in sex= 'sex=sex.csv --domain sex=sex.csv'; do
    cellar collect curator invite --spool spool --key curator.key --shuffler shuffler.pub --analyst analyst.pub \
        --title Door --people 2 --k 1 --exposure 1 --domain $domain 2>&1
done
cellar collect curator invite --spool spool --key curator.key --shuffler shuffler.pub --analyst analyst.pub \
    --title Door --people 2 --k 1 --exposure 1 --domain sex=sex.csv
# What a hostile curator writes does not reach the terminal of whoever looks at it.
cellar key create hostile.key >/dev/null
cellar collect curator identity --key hostile.key -o hostile.pub
mkdir hostile
cellar collect curator invite --spool hostile --key hostile.key --shuffler shuffler.pub --analyst analyst.pub \
    --title "$(printf 'Wipe \302\2332J')" --people 2 --k 1 --exposure 1 --domain "$(printf 's\342\200\256xe')=sex.csv"
cellar collect participant check --spool hostile --key gateway.key --curator hostile.pub 2>&1 | grep '^title\|^column'
# Not as browsers write an origin: no page would ever be let in.
for origin in https://survey.example/ survey.example https:// http://Survey.example https://survey.example:443 \
    http://survey.example:80 'https://a b' null ftp://survey.example https://me@survey.example; do
    door --origin "$origin"
done
door --origin https://survey.example --listen 0.0.0.0:8081
door --origin https://survey.example --listen 127.0.0.1:65536
cellar collect shuffler run --spool spool --key shuffler.key --curator curator.pub --listen 127.0.0.1:99999 2>&1
door
# As browsers do. In the foreground no SIGCONT follows the end, which can hang LeakSanitizer at its work.
timeout --foreground 5 cellar collect door run --spool spool --curator curator.pub --listen unix:here --origin https://survey.example \
    --origin https://survey.example:8443 --origin http://127.0.0.1:8000 --origin 'http://[::1]:8000' 2>&1
echo "opened: $?"
