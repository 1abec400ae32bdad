# SPDX-License-Identifier: GPL-3.0-or-later
# On a terminal tables fit and headers are bold; with NO_COLOR, in a pipe or a file they are plain.
command -v python3 >/dev/null || { echo "no python3"; exit 77; }
cat >screen.py <<'END'
import fcntl, os, pty, struct, sys, termios
columns, command = int(sys.argv[1]), sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    os.execvp(command[0], command)
shown = b""
while True:
    try:
        some = os.read(fd, 65536)
    except OSError:
        break
    if not some:
        break
    shown += some
os.waitpid(pid, 0)
for line in shown.decode().replace("\r", "").splitlines():
    width = len(line.replace("\033[1m", "").replace("\033[0m", ""))
    print(("wide " if width > columns else "") + line.replace("\033[1m", "<b>").replace("\033[0m", "</b>"))
END
printf 'region,sex,illness,count\nnorth,f,none,5\nnorth,f,flu,1\nnorth,m,none,3\nsouth,f,flu,4\nsouth,m,none,1\n' >t.csv
risk="cellar risk table t.csv --qid region,sex --sensitive illness --mechanism laplace --epsilon 0.5,1"
export TERM=xterm
unset NO_COLOR
python3 screen.py 80 $risk | tail -n 9
python3 screen.py 40 $risk | sed -n '/mechanism/,/^$/p'
python3 screen.py 16 cellar tabulate t.csv --count count --by region,sex,illness --domain-public | grep -c '  count'
NO_COLOR=1 python3 screen.py 80 $risk | grep -c '<b>'
TERM=dumb python3 screen.py 80 $risk | grep -c '<b>'
python3 screen.py 40 $risk -o answer.txt >/dev/null
$risk | cmp - answer.txt && echo "a pipe and a file are the same"
