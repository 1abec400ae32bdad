# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the commands that pages show:

usage: commands.py [--update] BUILD_FOLDER SOURCE_FOLDER [PAGE...]

A block ```console holds commands, each after "$ " (a line that ends with a backslash goes on), and
what they answer. The blocks of a page run one after the other in one folder, empty at first, with what
`make install` installs first in PATH; "$ cd FOLDER" moves on. What is answered must be what the page shows, where a line "..." stands
for any lines, "…" for any characters, and "(exit status 3)" at the end for that status. In blocks
```console random numbers differ from run to run, and only the status is compared. --update writes
what is answered into the page where it differs, and into all random blocks, so that they fit together.

In every block of every page, and in the examples of the manual, the options of `cellar VERB` must
be options of that verb."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import pages

SECONDS = 900  # for one command, on a machine that is busy with other things
STATUS = re.compile(r"\(exit status (\d+)\)")


def read_commands(lines):
    """The (command, shown lines) of a block; shown commands keep their line breaks."""
    commands = []
    going_on = False
    for line in lines:
        if going_on:
            commands[-1][0].append(line)
        elif line.startswith("$ "):
            commands.append(([line], []))
        elif commands:
            commands[-1][1].append(line)
        going_on = line.endswith("\\") and (going_on or line.startswith("$ "))
    return commands


def as_pattern(shown):
    """A regular expression for the lines shown."""
    parts = [r"(?:.*\n)*?" if line == "..." else
             ".*".join(re.escape(piece) for piece in line.split("…")) + r"\n" for line in shown]
    return re.compile("".join(parts))


def answer(command, folder, environment):
    """What a terminal shows, as lines."""
    script = "\n".join(command)[2:]
    try:
        done = subprocess.run(["sh", "-c", script], cwd=folder, env=environment,
                              umask=0o022, text=True, errors="replace", check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return [f"(no end after {SECONDS} seconds)"]
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    return lines + ([f"(exit status {done.returncode})"] if done.returncode else [])


def agrees(shown, told, is_random):
    if not is_random:
        return as_pattern(shown).fullmatch("".join(line + "\n" for line in told)) is not None
    status = [lines[-1] if lines and STATUS.fullmatch(lines[-1]) else "" for lines in (shown, told)]
    return status[0] == status[1] and bool(shown) == bool(told)


def run_page(path, source, environment, update):
    """Runs the blocks of one page: how many commands ran, and what is wrong."""
    ran, complaints, text = 0, [], path.read_text()
    with tempfile.TemporaryDirectory() as folder:
        here = folder
        for kind, first, lines in pages.split(text):
            words = (kind or "").split()
            if words[:1] != ["console"]:
                continue
            rewritten = []
            for command, shown in read_commands(lines):
                moved = re.fullmatch(r"\$ cd (\S+)", command[0])
                here = os.path.join(here, moved[1]) if moved else here
                told = [] if moved else answer(command, here, dict(environment, HOME=folder))
                ran += 1
                good = agrees(shown, told, "random" in words)
                rewritten += command + (shown if good and "random" not in words else told)
                if not good:
                    complaints.append(f"{path.relative_to(source)}:{first}: {command[0]}\n    " +
                                      "\n    ".join(told))
            if update and rewritten != lines:
                text = text.replace("\n".join(["```" + kind] + lines + ["```"]),
                                    "\n".join(["```" + kind] + rewritten + ["```"]), 1)
    if update:
        path.write_text(text)
    return ran, complaints


def shown_commands(path):
    """The lines of a page or a manual page that show `cellar VERB ...`."""
    text = path.read_text().replace("\\\n", " ")
    if path.suffix == ".1":
        return re.findall(r"^\.Dl (cellar .*)$", text, re.M)
    return [line for kind, _, lines in pages.split(text) if kind is not None
            for line in re.findall(r"^(?:\$ )?(cellar .*)$", "\n".join(lines), re.M)]


def check_prompts(source):
    """Complaints about answers that nobody checks: "$ " belongs into blocks that are run."""
    complaints = []
    for path in pages.tracked(source, "*.md"):
        for kind, first, lines in pages.split(path.read_text()):
            if kind is not None and kind.split()[:1] != ["console"] and any(l.startswith("$ ") for l in lines):
                complaints.append(f"{path.relative_to(source)}:{first}: a block with \"$ \" that is not run: say console")
    return complaints


def check_options(source, environment):
    """Complaints about options that their verb does not have."""
    helps, complaints = {}, []
    for path in pages.tracked(source, "*.md", "man/*.1"):
        for command in shown_commands(path):
            found = re.match(r"cellar ([a-z-]+)", command)
            if not found:
                continue
            verb = found[1]
            if verb not in helps:
                helps[verb] = subprocess.run(["cellar", "help", verb], env=environment, text=True,
                                             capture_output=True, check=False).stdout
            for option in re.findall(r"(?<=[ \[])--[a-z][a-z0-9-]*", command):
                if not re.search(rf"^ +(-., )?{option}\b(?!-)", helps[verb], re.M):
                    complaints.append(f"{path.relative_to(source)}: cellar {verb} has no {option}")
    return complaints


def install(build, prefix):
    """What a reader has: the program and its files where `make install` puts them."""
    subprocess.run(["cmake", "--install", build, "--prefix", prefix], stdout=subprocess.DEVNULL, check=True)
    return pathlib.Path(prefix) / "bin"


def clean_environment(build, programs):
    """What every machine gives alike: no settings of the user, of a terminal or of whoever started
    this, but for where programs, libraries and temporary files are."""
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "TMPDIR") if name in os.environ}
    return dict(kept, PATH=f"{programs}:{build}/examples:{os.environ['PATH']}", LC_ALL="C.UTF-8", TZ="UTC")


def main():
    arguments = [a for a in sys.argv[1:] if a != "--update"]
    update = len(arguments) < len(sys.argv) - 1
    build, source = (pathlib.Path(a).resolve() for a in arguments[:2])
    with tempfile.TemporaryDirectory(prefix="cellar-installed-") as prefix:
        environment = clean_environment(build, install(build, prefix))
        listed = [pathlib.Path(a).resolve() for a in arguments[2:]] or pages.tracked(source, "*.md")
        total, complaints = 0, check_options(source, environment) + check_prompts(source)
        with ThreadPoolExecutor(2) as pool:
            for ran, wrong in pool.map(lambda path: run_page(path, source, environment, update), listed):
                total += ran
                complaints += wrong
        print("\n".join(complaints + [f"{total} commands ran, {len(complaints)} complaints"]))
        sys.exit(bool(complaints) and not update)


main()
