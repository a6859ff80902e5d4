#!/usr/bin/env python3
"""Checks that a test sees every alert fire and not fire, and that every alert says what to do and is in docs/alerts.md."""

import pathlib
import sys

import yaml

folder = pathlib.Path("deploy/prometheus")
groups = yaml.safe_load((folder / "rules.yml").read_text())["groups"]
alerts = [rule for group in groups for rule in group["rules"] if "alert" in rule]
checks = [
    check
    for test in yaml.safe_load((folder / "rules.test.yml").read_text())["tests"]
    for check in test["alert_rule_test"]
]
text = pathlib.Path("docs/alerts.md").read_text()

faults = []
for alert in alerts:
    name = alert["alert"]
    fired = [bool(check.get("exp_alerts")) for check in checks if check["alertname"] == name]
    if True not in fired:
        faults.append(f"{name}: no test sees it fire")
    if False not in fired:
        faults.append(f"{name}: no test sees it stay quiet")
    for annotation in ("summary", "description"):
        if not alert.get("annotations", {}).get(annotation):
            faults.append(f"{name}: it has no {annotation}")
    if f"`{name}`" not in text:
        faults.append(f"{name}: docs/alerts.md lacks it")
sys.exit("\n".join(faults) or None)
