#!/usr/bin/env python3
"""Compares the public declarations of the library products with scripts/api/NAME.txt, from the results of `swift build`.

Any difference fails until it is recorded, so that a reviewer sees it in a commit. A removed or changed declaration breaks
services that use it.

    scripts/check-api.py             compares
    scripts/check-api.py --record    writes scripts/api/NAME.txt for each library
"""

import argparse
import sys

from symbolgraphs import LIBRARIES, ROOT, extract

# The compiler adds these to types, and versions of the compiler differ in it.
IMPLICIT = {"Copyable", "Escapable", "SendableMetatype"}


def declarations(graph):
    """Returns a line for each public declaration of a graph, and one for each protocol that a type conforms to."""
    names = {symbol["identifier"]["precise"]: ".".join(symbol["pathComponents"]) for symbol in graph["symbols"]}
    for symbol in graph["symbols"]:
        if symbol["kind"]["identifier"] != "swift.extension":
            text = "".join(fragment["spelling"] for fragment in symbol["declarationFragments"])
            yield f"{names[symbol['identifier']['precise']]}: {' '.join(text.split())}"
    for relation in graph["relationships"]:
        protocol = names.get(relation["target"], relation.get("targetFallback", relation["target"])).split(".")[-1]
        if relation["kind"] == "conformsTo" and relation["source"] in names and protocol not in IMPLICIT:
            yield f"{names[relation['source']]}: conforms to {protocol}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true")
    record = parser.parse_args().record
    changed = False
    for module in LIBRARIES:
        path = ROOT / "scripts" / "api" / f"{module}.txt"
        current = sorted({line for graph in extract(module) for line in declarations(graph)})
        recorded = path.read_text().splitlines() if path.exists() else []
        removed, added = [line for line in recorded if line not in current], [line for line in current if line not in recorded]
        print(f"{len(current)} public declarations of {module}: {len(removed)} removed or changed, {len(added)} added")
        print(*(f"- {line}" for line in removed), *(f"+ {line}" for line in added), sep="\n", end="\n" if removed or added else "")
        changed = changed or bool(removed or added)
        if record:
            path.parent.mkdir(exist_ok=True)
            path.write_text("\n".join(current) + "\n")
    if changed and not record:
        sys.exit("If this is intended, record it with `scripts/check-api.py --record`. A line with - breaks services that use it.")


main()
