#!/usr/bin/env python3
"""Makes the documentation of the library products from the results of `swift build`, and checks it.

It fails for a public symbol without documentation, for a public declaration with a type of a module that a service cannot
import, for every warning of DocC, and if .spi.yml names other targets. A symbol that implements a protocol's requirement may
use the protocol's documentation.

    scripts/docs.py          writes .build/documentation/NAME.doccarchive for each library
"""

import re
import shutil
import subprocess
import sys

from symbolgraphs import LIBRARIES, MANIFEST, OUTPUT, ROOT, TOOLCHAIN, extract, folder


def undocumented(symbols):
    """Returns the public symbols without a comment, either their own or a protocol's."""
    return [
        ".".join(symbol["pathComponents"]) for symbol in symbols
        if "docComment" not in symbol and symbol["kind"]["identifier"] != "swift.extension"
    ]


def foreign(symbols, hidden):
    """Returns declarations with a type of a hidden module. A precise identifier begins with the length of its module's name."""
    for symbol in symbols:
        for fragment in symbol["declarationFragments"]:
            found = re.match(r"s:(\d+)(.*)", fragment.get("preciseIdentifier", ""))
            if found and found[2][:int(found[1])] in hidden:
                yield f"{'.'.join(symbol['pathComponents'])}: {fragment['spelling']}"


def indexed():
    """Returns the targets that the Swift Package Index documents."""
    listed = re.search(r"documentation_targets: \[(.*)\]", (ROOT / ".spi.yml").read_text())
    return sorted(listed[1].split(", ")) if listed else []


def main():
    hidden = {target["name"] for target in MANIFEST["targets"]} - set(LIBRARIES)
    faults = []
    if indexed() != LIBRARIES:
        faults.append(f".spi.yml names {indexed()}, and the libraries are {LIBRARIES}.")
    for module in LIBRARIES:
        symbols = [symbol for graph in extract(module) for symbol in graph["symbols"]]
        faults += [f"{name} has no documentation." for name in undocumented(symbols)]
        faults += [f"{name} is a type that a service cannot import." for name in foreign(symbols, hidden)]

        archive = OUTPUT / f"{module}.doccarchive"
        shutil.rmtree(archive, ignore_errors=True)
        catalog = ROOT / "Sources" / module / f"{module}.docc"
        made = subprocess.run(
            [
                TOOLCHAIN / "docc", "convert", *([catalog] if catalog.exists() else []),
                "--additional-symbol-graph-dir", folder(module), "--fallback-display-name", module,
                "--fallback-bundle-identifier", module, "--warnings-as-errors", "--output-path", archive,
            ])
        if made.returncode != 0:
            faults.append(f"DocC warned about {module}.")
        else:
            print(f"{len(symbols)} symbols of {module}: {archive.relative_to(ROOT)}")
    sys.exit("\n".join(faults) or None)


main()
