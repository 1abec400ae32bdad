# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests of the table builder share: a small site, the program, requests."""
import http.client
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import urllib.parse

WAIT_SECONDS = 60


def run(*words):
    """What a command prints."""
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def make(cellar, folder, people=2000):
    """The small country with its cube in `folder`; answers the path of its configuration."""
    os.umask(0o022)
    run(cellar, "demo-data", str(folder), "--people", str(people))
    run(cellar, "ledger", "create", f"{folder}/cube.ledger", "--dataset", "census", "--edition", "2026", "--unit", "person",
        "--neighbours", "add-remove", "--epsilon", "5", "--delta", "1e-6", "--population", str(people))
    run(cellar, "cube", "build", f"{folder}/plans/small_country_cube.yaml")
    config = pathlib.Path(folder, "sites/small_country.yaml")
    text = config.read_text().replace("site:\n", "site:\n  limits: {calls: 1000000, seconds: 1}\n", 1)
    config.write_text(text)
    return config


BUDGET = """serve: 1
site: {{title: Test, tokens: access/tokens, audit: state/audit, limits: {{calls: 1000000, seconds: 1}}}}
datasets:
  - id: census
    kind: budget
    title: People
    period: '2026'
    population: people
    folder: public
    step_ms: {step_ms}
    records:
      data: {{file: people.csv, edition: '1'}}
      unit: {{name: person}}
      variables:
{variables}
    ledger: {{file: ledger, key: key, dataset: census}}
    budget:
      cap: {{rho: {rho}}}
      neighbours: add-remove
      negatives: keep
      parameter_choice: advance
      classes: [{{variables: 3, mechanism: 'discrete-gaussian:sigma=8'}}]
"""


def make_budget(cellar, folder, rho, names=("region", "sex", "age"), rng=None, step_ms=1):
    """People with variables of three categories in `folder`, a ledger with a witness, a data set of the kind
    budget; a table costs a rho of 1/128. Answers the path of the configuration and a token that may draw."""
    os.umask(0o022)
    rng, place = rng or random.Random(1), pathlib.Path(folder)
    for name in ("public", "access", "state"):
        (place / name).mkdir()
    rows = [names] + [[rng.choice("abc") for _ in names] for _ in range(60)]
    (place / "people.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    (place / "list.csv").write_text("code\na\nb\nc\n")
    run(cellar, "ledger", "create", f"{folder}/ledger", "--dataset", "census", "--unit", "person", "--neighbours",
        "add-remove", "--rho", str(rho), "--ledger-key", f"{folder}/key", "--witness", f"{folder}/witness")
    variables = "\n".join(f"        - {{name: {name}, codelist: list.csv}}" for name in names)
    config = place / "site.yaml"
    config.write_text(BUDGET.format(rho=rho, variables=variables, step_ms=step_ms))
    token = run(cellar, "serve", "token", "create", f"{folder}/access/tokens", "--name", "anna", "--role", "analyst")
    return config, token.strip()


class Server:
    """`cellar serve` as it runs; stops at the end of a with statement."""

    def __init__(self, words, **options):
        self.process = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        **options)
        self.url = self.process.stdout.readline().decode().strip()
        self.heard = ""
        if not self.url:
            raise RuntimeError("the server does not start: " + self.process.stderr.read().decode())
        os.set_blocking(self.process.stderr.fileno(), False)

    def said(self):
        """All messages so far."""
        self.heard += (self.process.stderr.read() or b"").decode()
        return self.heard

    def children(self):
        path = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(word) for word in path.read_text().split()]

    def connect(self):
        if self.url.startswith("unix:"):
            connection = http.client.HTTPConnection("localhost", timeout=WAIT_SECONDS)
            connection.sock = socket.socket(socket.AF_UNIX)
            connection.sock.connect(self.url[5:])
            return connection
        address = urllib.parse.urlsplit(self.url)
        return http.client.HTTPConnection(address.hostname, address.port, timeout=WAIT_SECONDS)

    def ask(self, path, method="GET", body=None, headers=None):
        """Status, headers and body of one answer."""
        connection = self.connect()
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def raw(self):
        """A connection to say anything on."""
        found = re.fullmatch(r"http://([\d.]+):(\d+)/", self.url)
        return socket.create_connection((found[1], int(found[2])), timeout=WAIT_SECONDS)

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=WAIT_SECONDS)
        self.said()
        return code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.stop()
        finally:
            self.process.stdout.close()
            self.process.stderr.close()
        if "Sanitizer" in self.heard:
            raise AssertionError(self.heard)
