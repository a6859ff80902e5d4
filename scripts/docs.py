#!/usr/bin/env python3
"""Makes the documentation of the library products from the results of `swift build`, and checks it.

It fails for a public symbol without documentation, for a public declaration with a type of a module that a service cannot
import, and for every warning of DocC. A symbol that implements a protocol's requirement may use the protocol's documentation.

    scripts/docs.py          writes .build/documentation/NAME.doccarchive for each library
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUTPUT = ROOT / ".build" / "documentation"


def answer(*command):
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def extract(module, build, toolchain, triple, graphs):
    """Writes the symbol graph of a module."""
    # The compiler finds Swift's modules by itself, and C modules by their maps.
    maps = [*build.glob("*.build/module.modulemap"), *(ROOT / "Sources").glob("*/module.modulemap")]
    clang = [part for path in maps for part in ("-Xcc", f"-fmodule-map-file={path}")]
    subprocess.run(
        [
            toolchain / "swift-symbolgraph-extract", "-module-name", module, "-target", triple,
            "-I", build / "Modules", *clang, "-minimum-access-level", "public", "-skip-synthesized-members",
            "-emit-extension-block-symbols", "-output-dir", graphs,
        ], check=True)


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


def main():
    manifest = json.loads(answer("swift", "package", "dump-package"))
    libraries = {
        target for product in manifest["products"] if "library" in product["type"] for target in product["targets"]
    }
    hidden = {target["name"] for target in manifest["targets"]} - libraries
    target = json.loads(answer("swift", "-print-target-info"))
    toolchain = pathlib.Path(target["paths"]["runtimeResourcePath"]).parent.parent / "bin"
    build = pathlib.Path(answer("swift", "build", "--show-bin-path").strip())

    faults = []
    for module in sorted(libraries):
        graphs = OUTPUT / f"{module}.symbols"
        shutil.rmtree(graphs, ignore_errors=True)
        graphs.mkdir(parents=True)
        extract(module, build, toolchain, target["target"]["triple"], graphs)
        symbols = [
            symbol for path in sorted(graphs.glob("*.symbols.json"))
            for symbol in json.loads(path.read_text())["symbols"]
        ]
        faults += [f"{name} has no documentation." for name in undocumented(symbols)]
        faults += [f"{name} is a type that a service cannot import." for name in foreign(symbols, hidden)]

        archive = OUTPUT / f"{module}.doccarchive"
        shutil.rmtree(archive, ignore_errors=True)
        catalog = [ROOT / "Sources" / module / f"{module}.docc"]
        made = subprocess.run(
            [
                toolchain / "docc", "convert", *filter(pathlib.Path.exists, catalog),
                "--additional-symbol-graph-dir", graphs, "--fallback-display-name", module,
                "--fallback-bundle-identifier", module, "--warnings-as-errors", "--output-path", archive,
            ])
        if made.returncode != 0:
            faults.append(f"DocC warned about {module}.")
        else:
            print(f"{len(symbols)} symbols of {module}: {archive.relative_to(ROOT)}")
    sys.exit("\n".join(faults) or None)


main()
