#!/usr/bin/env python3
"""Checks the documents, without a build. Prints every fault.

- A link leads to a file of the repository, and its anchor to a heading of it.
- A Swift listing of a page for users is part of a source that is compiled, but for white space; a line `// …` leaves
  something out. A listing after a comment that begins with `untried`, or with `tried by` and a script, is not.
- A page for users names only variables that the table of docs/configuration.md has (a test compares its rows with the
  code), metrics, fields of `agent.status`, properties of `configuration` and routes that the sources have, and targets of
  the Makefile and scripts that exist. `DocumentedCommandsTests` parses its commands.
- The pages for users have 18,000 words together at most.

    scripts/check-docs.py            checks
    scripts/check-docs.py --words    also prints the words of each page for users
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_WORDS = 18_000
# Not in a table: read by the collector's ClickHouse store, or about the tests.
OTHER_VARIABLES = {"MARTLET_CLICKHOUSE_USER", "MARTLET_CLICKHOUSE_PASSWORD", "MARTLET_CLICKHOUSE_CERTIFICATE"}


def documents():
    tracked = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
                             cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    return [ROOT / name for name in tracked if "Golden" not in name and (ROOT / name).exists()]


def user_pages():
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "deploy" / "README.md"]


def without_listings(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def anchors(path):
    """Returns the anchors that GitHub gives to the headings of a page."""
    found = []
    for heading in re.findall(r"^#+ (.*)$", without_listings(path.read_text()), re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        found.append(f"{anchor}-{found.count(anchor)}" if anchor in found else anchor)
    return found


def link_faults(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", without_listings(page.read_text())):
        if "://" in target or target.startswith("mailto:"):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        if not path.exists():
            yield f"there is no {target}"
        elif anchor and path.suffix == ".md" and anchor not in anchors(path):
            yield f"{target}: there is no such heading"


def stripped(text):
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


def listing_faults(page, sources):
    for comment, listing in re.findall(r"(<!--[^>]*-->\n)?```swift\n(.*?)^```", page.read_text(), re.M | re.S):
        parts = [stripped(part) for part in re.split(r"^\s*// …\n", listing, flags=re.M)]
        if not re.match("<!-- (un)?tried", comment) and not any(all(p in s for p in parts) for s in sources):
            yield f"no compiled source has the listing {listing.splitlines()[0].strip()!r} …"


def swift(folder):
    return "\n".join(path.read_text() for path in (ROOT / folder).rglob("*.swift") if "Generated" not in path.parts)


class Names:
    """The names that a page may use."""

    def __init__(self):
        rows = re.findall(r"^\| `(MARTLET_[A-Z_]+)`", (ROOT / "docs/configuration.md").read_text(), re.M)
        self.variables = set(rows) | OTHER_VARIABLES
        self.targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M)
        self.agent, self.collector = swift("Sources/Martlet"), swift("Collector")
        self.rules = (ROOT / "deploy/prometheus/rules.yml").read_text()
        self.routes = (ROOT / "Collector/Server/Resources/openapi.json").read_text()

    def has_metric(self, name):
        # The sources make some names of a prefix and the rest.
        rest = re.sub("^martlet_(agent|service|collector)_", "", name)
        return f'"{name}"' in self.collector or f'"{rest}"' in self.collector or name in self.collector + self.rules

    def faults(self, text):
        for name in re.findall(r"\bMARTLET_[A-Z_]*[A-Z]", text):
            if not name.startswith("MARTLET_COLLECTOR") and name not in self.variables:
                yield f"docs/configuration.md has no variable {name}"
        for name in re.findall(r"\bmartlet_[a-z_]*[a-z]", text):
            if not self.has_metric(name):
                yield f"the collector has no metric {name}"
        for owner, name in re.findall(r"`[^`\n]*\b(status|configuration)\.([a-zA-Z]+)[^`\n]*`", text):
            if name != "md" and not re.search(rf"\b(var|func) {name}\b", self.agent):
                yield f"the agent has no {owner}.{name}"
        for route in re.findall(r"(?:GET|DELETE) (/api/v1/[a-z/{}]+)(?![a-z.])", text):
            if f'"{route}"' not in self.routes:
                yield f"openapi.json has no {route}"
        for target in re.findall(r"(?:^|`)make ([a-z-]+)", text, re.M):
            if target not in self.targets:
                yield f"the Makefile has no target {target}"
        for script in re.findall(r"(?:^|[` ])(scripts/[\w.-]+)", text, re.M):
            if not (ROOT / script.rstrip(".")).exists():
                yield f"there is no {script}"


def main():
    names = Names()
    sources = [
        stripped(path.read_text()) for folder in ("Examples", "Tests") for path in (ROOT / folder).rglob("*.swift")
    ]
    faults = [f"{page.relative_to(ROOT)}: {fault}" for page in documents()
              for fault in link_faults(page)]
    for page in user_pages():
        faults += [f"{page.relative_to(ROOT)}: {fault}"
                   for fault in [*listing_faults(page, sources), *sorted(set(names.faults(page.read_text())))]]
    words = {page: len(page.read_text().split()) for page in user_pages()}
    if "--words" in sys.argv:
        for page, count in words.items():
            print(f"{count:6,} {page.relative_to(ROOT)}")
        print(f"{sum(words.values()):6,} in all")
    if sum(words.values()) > MAX_WORDS:
        faults.append(f"The pages for users have {sum(words.values()):,} words; {MAX_WORDS:,} is the limit.")
    sys.exit("\n".join(faults) or None)


main()
