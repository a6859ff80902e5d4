#!/usr/bin/env python3
"""Prints every expression of a Grafana dashboard as a rule, which `promtool check rules` parses (JSON is YAML)."""

import json
import re
import sys

VALUES = {"$__rate_interval": "5m", "$__range": "1h"}

with open(sys.argv[1]) as file:
    dashboard = json.load(file)
variables = {variable["name"]: variable for variable in dashboard["templating"]["list"]}
queries = [variable["query"]["query"] for variable in variables.values() if variable["type"] == "query"]
expressions = [re.fullmatch(r"label_values\((.*), \w+\)", query)[1] for query in queries]
expressions += [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]

rules = []
for expression in expressions:
    for name, value in VALUES.items():
        expression = expression.replace(name, value)
    if unknown := set(re.findall(r"\$(\w+)", expression)) - variables.keys():
        sys.exit(f"The dashboard has no variable {', '.join(sorted(unknown))}: {expression}")
    rules.append({"record": f"dashboard:expression{len(rules)}", "expr": re.sub(r"\$\w+", ".*", expression)})
print(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
