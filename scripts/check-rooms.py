#!/usr/bin/env python3
"""Checks that each room of the agent knows only the rooms below it.

A room is a folder of Sources/Martlet. A file knows a room if it names a type that only that room declares at top level.
"""

import pathlib
import re
import sys

ROOMS = [
    "System", "Configuration", "Requests", "TraceContext", "Endpoints", "Redaction", "Journal", "Recording", "Tracing",
    "Capture", "Budget", "Shipping", "Agent",
]
AGENT = pathlib.Path(__file__).resolve().parent.parent / "Sources" / "Martlet"
TYPE = re.compile(r"^(?!private|fileprivate)(?:[\w@()]+ )*(?:struct|class|enum|protocol|actor|typealias) (\w+)", re.M)


def code(path):
    """The text without imports, comments and the literal parts of strings."""
    text = re.sub(r"^.*\bimport .*|//.*", "", path.read_text(), flags=re.M)
    return re.sub(r'"(?:\\.|[^"\\\n])*"', lambda match: " ".join(re.findall(r"\\\(([^)]*)\)", match[0])), text)


sources = {path: code(path) for path in sorted(AGENT.rglob("*.swift"))}
room = {path: path.relative_to(AGENT).parts[0] for path in sources}
if unknown := set(room.values()) - set(ROOMS):
    sys.exit(f"Without a rank in ROOMS: {', '.join(sorted(unknown))}")

homes = {}
for path, text in sources.items():
    for name in TYPE.findall(text):
        homes.setdefault(name, set()).add(room[path])

faults = []
for path, text in sources.items():
    for name in sorted(set(re.findall(r"\b[A-Z]\w*\b", text)) & homes.keys()):
        lowest = min(homes[name], key=ROOMS.index)
        if ROOMS.index(lowest) > ROOMS.index(room[path]):
            faults.append(f"{path.relative_to(AGENT)} names {name}, which is in {lowest}, a room above.")
if faults:
    sys.exit("\n".join(faults))
