# SPDX-License-Identifier: GPL-3.0-or-later
"""The command lines that the SAS macros and the Stata program compose are accepted:

usage: macros.py BUILD_FOLDER SOURCE_FOLDER

Neither SAS nor Stata is here, so this reads the few statements that compose a command line as those programs would,
and runs what comes out on made-up people. It says nothing of how SAS or Stata run it, or load what it wrote."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def stata_line(source, program, values):
    """The command of a program of the .ado file, for these options."""
    body = re.search(rf"^program define {program}\n(.*?)^end", source.replace("///\n", ""), re.M | re.S).group(1)
    values = dict(values)

    def expand(text):
        return re.sub(r"`(\w+)'", lambda found: values.get(found[1], ""), text)

    for line in map(str.strip, body.splitlines()):
        condition = re.match(r"if `?\"`(\w+)'\"'? (==|!=) (?:\"\"|`\"\"') (local .*)", line)
        if condition:
            if (values.get(condition[1], "") == "") != (condition[2] == "=="):
                continue
            line = condition[3]
        blanks = re.match(r"local (\w+) : list retokenize (\w+)", line)
        if blanks:
            values[blanks[1]] = " ".join(values[blanks[2]].split())
            continue
        replaced = re.match(r'local (\w+) : subinstr local (\w+) "(.*?)" "(.*?)", all', line)
        if replaced:
            values[replaced[1]] = values[replaced[2]].replace(replaced[3], replaced[4])
        elif line.startswith("local "):
            _, name, text = line.split(" ", 2)
            values[name] = expand(text)
        elif line.startswith("cellar_run"):
            return expand(line.removeprefix('cellar_run `"').removesuffix("\"'"))
    raise SystemExit(f"{program} runs nothing")


COMMA, BLANK = "\1", "\2"  # what %str() protects from being read as a separator

SAS_FUNCTIONS = {
    "str": lambda text: text.replace(",", COMMA).replace(" ", BLANK),
    "scan": lambda text, n, mark: text.split(mark)[int(n) - (int(n) > 0)],
    "lowcase": str.lower,
    "superq": str,
    "compbl": lambda text: re.sub(" +", " ", text),
    "translate": lambda text, to, old: text.replace(old.replace(BLANK, " "), to),
    "pathname": lambda library: library,  # the test's folder is called by its path
    "cellar_quote": lambda text: f"'{text}'",
}


def sas_line(source, macro, given):
    """The command of a macro, for these arguments."""
    header, body = re.search(rf"%macro {macro}\((.*?)\);(.*?)%mend", source, re.S).groups()
    values = dict(part.strip().split("=", 1) for part in header.split(","))
    values.update(given)
    call = re.compile(r"%q?sysfunc\((\w+)\(([^()]*)\)\)|%(?!let|if)(\w+)\(([^()]*)\)")

    def apply(found):
        name, text = (found[1], found[2]) if found[1] else (found[3], found[4])
        if name == "superq":
            return values[text]
        arguments = [part.strip() for part in text.split(",")] if name in ("scan", "translate") else [text]
        return SAS_FUNCTIONS[name](*arguments)

    def expand(text):
        text = re.sub(r"&(\w+)\.?", lambda found: values[found[1]], text)
        while call.search(text):
            text = call.sub(apply, text)
        return text

    for statement in body.split(";"):
        statement = " ".join(statement.split())
        if statement.startswith("%cellar_run"):
            return values["command"].replace(COMMA, ",").replace(BLANK, " ")
        condition = re.match(r"%if (?:%length\((?:&|%superq\()(\w+)\)+|not %index\(&(\w+), \.\)) %then (.*)", statement)
        if condition:
            is_so = values[condition[1]] if condition[1] else "." not in values[condition[2]]
            statement = condition[3] if is_so else ""
        if statement.startswith("%let"):
            name, text = statement.removeprefix("%let ").split(" = ", 1)
            values[name] = expand(text)
    raise SystemExit(f"{macro} runs nothing")


def run(line, folder, environment):
    print(line)
    done = subprocess.run(["sh", "-c", line], cwd=folder, env=environment, umask=0o022, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}this ended with status {done.returncode}")


def ask(verbs, compose, environment):
    """Counts, protects, and protects with a ledger, in a new folder."""
    with tempfile.TemporaryDirectory() as scratch:
        run("cellar demo-data country --people 2000", scratch, environment)
        folder = f"{scratch}/country"
        run("cellar ledger create ledger --dataset people --unit person --neighbours add-remove --epsilon 4"
            " --ledger-key ledger-key", folder, environment)
        data, protect = {"by": "region  sex", "domain": "codelists", "margins": "all", "where": "age>=18"}, {
            "mechanism": "discrete-laplace", verbs["total"]: "1", "negatives": "keep"}
        tabulate = compose("cellar_tabulate", {**data, verbs["data"]: verbs["name"](folder), "table": f"{folder}/true.json"})
        # the records of the made-up country are in a CSV file
        run(re.sub(r"people\.(dta|sas7bdat)", "people.csv", tabulate), folder, environment)
        source = {verbs["table"]: f"{folder}/true.json"}
        run(compose("cellar_protect", {**source, **protect, "output": f"{folder}/one.csv"}), folder, environment)
        paid = {"ledger": f"{folder}/ledger", "dataset": "people", "request": "first", "unit": "person",
                "options": "--ledger-key ledger-key", "output": f"{folder}/two.csv"}
        run(compose("cellar_protect", {**source, **protect, **paid}), folder, environment)
        for name in ("one.csv", "two.csv"):
            if not (pathlib.Path(folder) / name).stat().st_size:
                sys.exit(f"{name} is empty")


def main():
    build, root = map(pathlib.Path, sys.argv[1:])
    environment = {**os.environ, "PATH": f"{build.resolve()}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    ado = (root / "packaging/stata/cellar.ado").read_text()
    ask({"data": "using", "table": "using", "total": "totalepsilon", "name": lambda folder: f"{folder}/people.dta"},
        lambda program, values: stata_line(ado, program, values), environment)
    sas = (root / "packaging/sas/cellar.sas").read_text()
    ask({"data": "data", "table": "table", "total": "total_epsilon", "name": lambda folder: f"{folder}.PEOPLE"},
        lambda macro, values: sas_line(sas, macro, values), environment)


if __name__ == "__main__":
    main()
