#!/usr/bin/env python3
"""Checks that each layer of the agent uses only the layers below it.

A layer is a folder of Sources/Martlet. A file uses a layer if it names a type that only that layer declares at top level.
"""

import pathlib
import re
import sys

# From the lowest to the highest.
LAYERS = [
    "System", "Configuration", "Process", "Requests", "TraceContext", "Endpoints", "Rules", "Redaction", "Journal",
    "Recording", "Tracing", "Capture", "Budget", "Shipping", "Agent",
]
AGENT = pathlib.Path(__file__).resolve().parent.parent / "Sources" / "Martlet"
TYPE = re.compile(r"^(?!private|fileprivate)(?:[\w@()]+ )*(?:struct|class|enum|protocol|actor|typealias) (\w+)", re.M)


def code(path):
    """Returns the text without imports, comments and the literal parts of strings."""
    text = re.sub(r"^.*\bimport .*|//.*", "", path.read_text(), flags=re.M)
    return re.sub(r'"(?:\\.|[^"\\\n])*"', lambda match: " ".join(re.findall(r"\\\(([^)]*)\)", match[0])), text)


sources = {path: code(path) for path in sorted(AGENT.rglob("*.swift"))}
layer = {path: path.relative_to(AGENT).parts[0] for path in sources}
if unknown := set(layer.values()) - set(LAYERS):
    sys.exit(f"Give these folders a rank in LAYERS: {', '.join(sorted(unknown))}")

homes = {}
for path, text in sources.items():
    for name in TYPE.findall(text):
        homes.setdefault(name, set()).add(layer[path])

faults = []
for path, text in sources.items():
    for name in sorted(set(re.findall(r"\b[A-Z]\w*\b", text)) & homes.keys()):
        lowest = min(homes[name], key=LAYERS.index)
        if LAYERS.index(lowest) > LAYERS.index(layer[path]):
            faults.append(f"{path.relative_to(AGENT)} names {name}, which is in {lowest}, a layer above.")
if faults:
    sys.exit("\n".join(faults))
