#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks every operation of docs/openapi.yaml with its examples, and validates every answer.

usage: openapi.py CELLAR ROOT
"""
import json
import pathlib
import re
import shutil
import sys
import tempfile
import urllib.parse

import builder

try:
    import jsonschema
    import yaml
except ImportError as error:
    print("skipped:", error)
    sys.exit(77)

# A data set that is drawn from, beside the cube.
REGISTER = """
  - id: register
    kind: budget
    title: A register
    population: the register
    unit: person
    period: "2026"
    folder: ../register
    records:
      data: {file: ../vault/people.csv, edition: "2026"}
      unit: {name: person, column: id, max_records: 1}
      variables:
        - {name: region, codelist: ../codelists/region.csv, hierarchy: true}
        - {name: sex, codelist: ../codelists/sex.csv}
        - {name: age, bottom: 15, top: 75, band: 15, band_closed: right}
    ledger: {file: ../vault/register.ledger, dataset: register}
    budget:
      cap: {rho: 1}
      neighbours: add-remove
      negatives: keep
      parameter_choice: advance
      classes: [{variables: 3, mechanism: "discrete-gaussian:sigma=5"}]
    rules:
      - {name: few, max_variables: 2}
      - {name: people, min_total: 10}
"""


class Interface:
    """The description, and a site to compare it with."""

    def __init__(self, root, server, tokens):
        self.text = yaml.safe_load((root / "docs/openapi.yaml").read_text())
        self.server, self.tokens = server, tokens
        self.n_answers = 0
        self.faults = []

    def resolve(self, item):
        while "$ref" in item:
            at = self.text
            for word in item["$ref"].removeprefix("#/").split("/"):
                at = at[word]
            item = at
        return item

    def operations(self):
        for path, methods in self.text["paths"].items():
            for method, operation in methods.items():
                yield path, method.upper(), operation

    def ask(self, operation, method, path, body=None, token=None, want=None):
        """Asks, and compares status, media type and body with what the description says."""
        headers = {"Authorization": "Bearer " + self.tokens[token]} if token else {}
        status, head, answer = self.server.ask(path, method, json.dumps(body) if isinstance(body, dict) else body, headers)
        self.n_answers += 1
        where = f"{method} {path}: {status}"
        if want and status not in want:
            self.faults.append(f"{where} instead of {want}: {answer.decode()[:200]}")
        described = operation["responses"].get(str(status))
        if described is None:
            self.faults.append(f"{where} is not described: {answer.decode()[:200]}")
            return None
        kind, described = head["Content-Type"].split(";")[0], self.resolve(described)
        if kind not in described["content"]:
            self.faults.append(f"{where}: {kind} is not described")
            return None
        if kind == "text/plain":
            return answer.decode()
        value = json.loads(answer)
        schema = described["content"][kind]["schema"] | {"components": self.text["components"]}
        for fault in jsonschema.Draft202012Validator(schema).iter_errors(value):
            self.faults.append(f"{where}: {'/'.join(map(str, fault.path))}: {fault.message[:200]}")
        return value

    def example(self, operation, path, more):
        """The address and body of the examples."""
        values = {}
        query = []
        for parameter in map(self.resolve, operation.get("parameters", [])):
            value = more.get(parameter["name"], parameter.get("example"))
            if parameter["in"] == "path":
                values[parameter["name"]] = urllib.parse.quote(str(value), safe="")
            elif value is not None:
                query.append((parameter["name"], value))
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("example")
        path = re.sub(r"\{(\w+)\}", lambda found: values[found[1]], path)
        return path + ("?" + urllib.parse.urlencode(query) if query else ""), body


def routes_of_the_source(root):
    text = (root / "src/serve/v1.c").read_text()
    table = text[text.index("routes[] = {"):text.index("N_ROUTES")]
    return {(method, "/v1/" + pattern) for method, pattern in re.findall(r'\{"(GET|POST)", "([^"]*)"', table)}


def check_routes(interface, root):
    for schema in interface.text["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    described = {(method, re.sub(r"\{\w+\}", "{}", path)) for path, method, _ in interface.operations()}
    for route in described ^ routes_of_the_source(root):
        interface.faults.append(f"{route} is only in {'docs' if route in described else 'the source'}")


def check_examples(interface):
    table = interface.ask(interface.text["paths"]["/v1/tables/{dataset}/{table}"]["get"], "GET", "/v1/tables/country/total")
    for path, method, operation in interface.operations():
        token = {"/v1/draws": "analyst", "/v1/metrics": "auditor", "/v1/audit": "auditor",
                 "/v1/datasets/{dataset}/history": "auditor"}.get(path)
        address, body = interface.example(operation, path, {"certificate": table["answer"]["certificate"]})
        interface.ask(operation, method, address, body, token, want=(200, 201))


def check_more(interface):
    """What the examples do not meet: refusals, tables to be drawn, mistakes."""
    operation = {o["operationId"]: (m, p, o) for p, m, o in interface.operations()}

    def ask(name, address, want, body=None, token=None):
        method, _, described = operation[name]
        return interface.ask(described, method, address, body, token, (want,))

    _, _, body = interface.server.ask("/api/v2/tables/register/data?valuecodes[region]=*")
    told = json.loads(body)["detail"]
    if not re.fullmatch(r"Table region was not drawn yet, and reading draws nothing; .*\. .*(instead|could be drawn)\.", told):
        interface.faults.append(f"a refusal says {told}")
    offered = ask("describeTable", "/v1/tables/register/region*sex", 200)
    draw = {"dataset": "register", "table": "region*sex", "max_cost": offered["draw"]["cost"]["amount"]}
    drawn = ask("drawTable", "/v1/draws", 201, draw, "analyst")
    again = ask("drawTable", "/v1/draws", 200, draw, "analyst")
    if drawn["charged"] != offered["draw"]["cost"]["text"] or again["charged"] is not None:
        interface.faults.append(f"the cost shown is not the cost charged: {offered['draw']}, {drawn}, {again}")
    if not offered["refusal"]["suggestions"] or drawn["answer"]["exact"] is not True or drawn["refusal"] is not None:
        interface.faults.append(f"a table is offered and drawn: {offered}, {drawn}")
    if abs(drawn["answer"]["half_width95"] - offered["draw"]["half_width95"]) > 1e-9:
        interface.faults.append("the expected ± is not that of the table that was drawn")
    ask("describeTable", "/v1/tables/register/sex", 200)
    refused = ask("describeTable", "/v1/tables/register/region*sex*age", 200)
    for suggestion in refused["refusal"]["suggestions"]:
        found = ask("describeTable", "/v1/tables/register/" + urllib.parse.quote(suggestion["table"]), 200)
        if not found["allowed"]:
            interface.faults.append(f"a suggestion is refused: {found}")
    if not refused["refusal"]["suggestions"]:
        interface.faults.append("a refusal suggests nothing")
    ask("describeTable", "/v1/tables/country/region*sex*age*occupation", 200)  # not in the universe of the cube
    ask("drawTable", "/v1/draws", 403, draw | {"table": "region*sex*age"}, "analyst")
    ask("drawTable", "/v1/draws", 403, draw | {"table": "age*region", "max_cost": "0.000001"}, "analyst")
    ask("drawTable", "/v1/draws", 403, draw, "auditor")
    ask("drawTable", "/v1/draws", 401, draw)
    ask("drawTable", "/v1/draws", 400, draw | {"table": "height"}, "analyst")
    ask("drawTable", "/v1/draws", 400, "{", "analyst")
    ask("drawTable", "/v1/draws", 404, draw | {"dataset": "none"}, "analyst")
    ask("stateBudget", "/v1/datasets/register/statement", 200, token="analyst")
    ask("stateBudget", "/v1/datasets/none/statement", 404)
    ask("describeDataset", "/v1/datasets/register", 200)
    ask("describeDataset", "/v1/datasets/none", 404)
    ask("describeTable", "/v1/tables/country/height", 404)
    ask("listIntervals", "/v1/tables/register/region*sex/intervals?simultaneous=true", 200)
    ask("listIntervals", "/v1/tables/register/region%5E1/intervals", 200)  # sums of released values
    ask("listIntervals", "/v1/tables/register/age*sex*region/intervals", 403)
    ask("listIntervals", "/v1/tables/country/sex/intervals?confidence=7", 400)
    shares = ask("listIntervals", "/v1/tables/register/region*sex/intervals?heading=sex&share=row", 200)
    known = [(low, high) for low, high in zip(shares["low"], shares["high"]) if low is not None]
    if not known or not all(0 <= low <= high <= 1 for low, high in known):
        interface.faults.append(f"shares have no intervals: {shares}")
    ask("listIntervalsOfSelection", "/v1/datasets/register/intervals?valuecodes[region]=*&valuecodes[sex]=F&share=total", 200)
    ask("listIntervalsOfSelection", "/v1/datasets/register/intervals?valuecodes[sex]=X", 400)
    ask("listIntervalsOfSelection", "/v1/datasets/none/intervals", 404)
    ask("compareSets", "/v1/compare", 200, {"dataset": "register", "first": {"sex": "F"}, "second": {"sex": "M"}})
    ask("compareSets", "/v1/compare", 400, {"dataset": "register", "first": {"sex": "X"}, "second": {}})
    ask("compareSets", "/v1/compare", 403, {"dataset": "register", "first": one_not_drawn(interface), "second": {}})
    ask("testIndependence", "/v1/independence", 200, {"dataset": "register", "table": "region*sex"})
    ask("testIndependence", "/v1/independence", 403, {"dataset": "register", "table": "region*age"})
    ask("showCertificate", "/v1/certificates/none", 404)
    ask("showCertificate", "/v1/certificates/" + drawn["answer"]["certificate"], 200)
    ask("readAudit", "/v1/audit?from=x", 400, token="auditor")
    log = ask("readAudit", "/v1/audit", 200, token="auditor")
    if not any(entry["decision"] == "drawn" and entry["cost"] == drawn["charged"] for entry in log["log"]):
        interface.faults.append("the draw is not in the audit log")
    history = ask("readHistory", "/v1/datasets/register/history", 200, token="auditor")
    statement = ask("stateBudget", "/v1/datasets/register/statement", 200)
    budget, promise = statement["budget"], statement["promise"]
    if promise["covers"] != "budget" or budget["cap"] != f"rho {promise['rho']:g}":
        interface.faults.append(f"the promise is not the cap: {promise}, {budget}")
    last = history["days"][-1]
    if ("rho " + last["spent"], "rho " + last["left"]) != (budget["spent"], budget["left"]):
        interface.faults.append(f"the history does not end with the balance: {last}, {budget}")
    if sum(day["drawn"] for day in history["days"]) != 2 or history["refusals"] != {"few": 1, "max-cost": 1}:
        interface.faults.append(f"the history has other draws or refusals: {history}")
    ask("readHistory", "/v1/datasets/register/history", 401)
    ask("readHistory", "/v1/datasets/register/history", 403, token="analyst")
    ask("readHistory", "/v1/datasets/none/history", 404, token="auditor")
    metrics = ask("showMetrics", "/v1/metrics", 200, token="auditor")
    if 'cellar_draws_total{decision="drawn"} 2\n' not in metrics:
        interface.faults.append(f"the metrics count other draws: {metrics}")


def one_not_drawn(interface):
    """A cell of a table that nobody drew."""
    _, _, body = interface.server.ask("/v1/datasets/register/variables")
    first = {v["code"]: v["levels"][-1]["categories"][0]["code"] for v in json.loads(body)["variables"]}
    return {name: first[name] for name in ("region", "age")}


def make_site(cellar, folder):
    """The configuration of both data sets, and tokens."""
    config = builder.make(cellar, folder)
    for name in ("vault", "front", "register"):
        (pathlib.Path(folder) / name).mkdir()
    shutil.copy(f"{folder}/people.csv", f"{folder}/vault/people.csv")
    builder.run(cellar, "ledger", "create", f"{folder}/vault/register.ledger", "--dataset", "register", "--edition", "2026",
                "--unit", "person", "--neighbours", "add-remove", "--rho", "1", "--population", "2000")
    config.write_text(config.read_text().replace("site:\n", "site:\n  tokens: ../front/tokens\n  audit: ../front/audit\n", 1) + REGISTER)
    tokens = {role: builder.run(cellar, "serve", "token", "create", f"{folder}/front/tokens", "--name", role, "--role",
                                role).strip() for role in ("analyst", "auditor")}
    return config, tokens


def main():
    cellar, root = sys.argv[1], pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        config, tokens = make_site(cellar, folder)
        with builder.Server([cellar, "serve", config, "--listen", "127.0.0.1:0"]) as server:
            interface = Interface(root, server, tokens)
            check_routes(interface, root)
            check_examples(interface)
            check_more(interface)
            if interface.faults:
                print(server.said())
    print("\n".join(interface.faults) or f"{interface.n_answers} answers are as described")
    return 1 if interface.faults else 0


if __name__ == "__main__":
    sys.exit(main())
