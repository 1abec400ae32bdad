# SPDX-License-Identifier: GPL-3.0-or-later
# Ctrl-C ends with exit status 130, as shells report it, and leaves nothing behind.
mkfifo pipe
cellar tabulate pipe --by a -o table.csv 2>stderr &
exec 3>pipe # returns when the program has opened the pipe; it listens to signals by then
kill -INT $!
printf 'a\n1\n' >&3
exec 3>&-
wait $!
echo "exit $?"
cat stderr
ls
