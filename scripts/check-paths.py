#!/usr/bin/env python3
"""Checks that each file, folder and type exists that the guides to the sources name. Prints the others.

A path is below the repository, the agent, `Sources` or `Collector`, or below a folder of a path before it in the same line.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GUIDES = ["ARCHITECTURE.md", "docs/internals/walk.md", "docs/internals/where.md"]
BASES = [ROOT, ROOT / "Sources" / "Martlet", ROOT / "Sources", ROOT / "Collector"]
PATH = re.compile(r"[A-Za-z.][\w.+-]*(?:/[\w.+-]+)+|[\w+-]+(?:\.\w+)?\.(?:swift|c|css|js|json|py|sh|yml|md)")
TYPE = re.compile(r"[A-Z][a-z]\w+")
OTHER_NAMES = {"Host", "Location"}


def folders(path):
    """Returns the folders of a path, up to the base above it."""
    for folder in path.parents:
        if folder in BASES:
            return
        yield folder


def wrong(line, words):
    near = []
    for name in re.findall(r"`([^`]+)`|\]\(([^)#]+)", line):
        text = name[0] or name[1]
        if name[1] and "://" in text:
            continue
        if PATH.fullmatch(text.removeprefix("../")):
            text = text.removeprefix("../")
            bases = BASES + [ROOT / "docs", ROOT / "docs" / "internals"] + near if name[1] else BASES + near
            found = next((base / text for base in bases if (base / text).exists()), None)
            if found is None:
                yield text
            else:
                near[:0] = [found, *folders(found)]
        elif TYPE.fullmatch(text) and text not in words | OTHER_NAMES:
            yield text


def main():
    words = set()
    for source in (file for folder in ("Sources", "Collector", "Tests") for file in (ROOT / folder).rglob("*.*")):
        if source.suffix in {".swift", ".c", ".h"} and "Generated" not in source.parts:
            words |= set(re.findall(r"\b[A-Z]\w+", source.read_text()))
            words |= {folder.name for folder in source.parents}
    faults = [
        f"{guide}:{number}: there is no {name}"
        for guide in GUIDES
        for number, line in enumerate((ROOT / guide).read_text().splitlines(), 1)
        for name in wrong(line, words)
    ]
    print("\n".join(faults), end="\n" if faults else "")
    sys.exit(1 if faults else 0)


main()
