#!/usr/bin/env python3
"""Plays the demo to its end, some 31 minutes, and compares what the collector found with what was planted: one finding for each
fault, of the right kind, about the right service and endpoint, since within two minutes, and none that names an innocent.

    scripts/check-demo.py [FOLDER]     FOLDER keeps the demo's output and the findings
"""

import datetime
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
AWAY = "1,000 visits while payments is away"
PLAYED = "All faults were played."
CRASH = "return discounts[level]"
TOLERANCE = datetime.timedelta(minutes=2)

# Of each kind, who is to blame: the service, its endpoint and the version where a finding names one. The first outage is over
# before the first fault that a line announces.
SUBJECTS = {
    "failing": ("storefront", "/payments", None),
    "starved": ("storefront", None, None),
    "ended": ("payments", None, "1.10.0"),
    "retries": ("storefront", "/products/{id}", None),
    "memory": ("catalog", None, "3.3.0"),
    "calls": ("storefront", "/", None),
    "slow": ("payments", "/payments", "1.11.0"),
}


def play(log):
    """Runs the demo until its last fault is over. Returns the findings and when each fault was planted, by kind."""
    demo = subprocess.Popen(["scripts/demo.sh"], cwd=ROOT, text=True, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    planted, played = {}, False
    try:
        for line in demo.stdout:
            log.write(line)
            log.flush()
            now = datetime.datetime.now(datetime.timezone.utc)
            if line.startswith(AWAY):
                planted["failing"] = now
            elif fault := re.match(r"\d\d:\d\d:\d\d  (\S+) ", line):
                planted[fault[1]] = now
            played = played or line.startswith(PLAYED)
            if played and "martlet-collector findings" in line:
                command = line.split() + ["--format", "json"]
                return json.loads(subprocess.check_output(command, cwd=ROOT)), planted
        sys.exit("The demo ended before all faults were played.")
    finally:
        demo.terminate()
        demo.wait()


def is_rush(finding, planted):
    """Whether it says that the first visits were slow, or waited for a thread. They come as fast as the machine allows, before any
    fault is announced."""
    if finding["kind"] not in ("slow", "starved") or finding["is_open"]:
        return False
    announced = min(time for kind, time in planted.items() if kind != "failing")
    return datetime.datetime.fromisoformat(finding["until"]) <= announced


def mistakes(findings, planted):
    for kind in SUBJECTS.keys() | planted.keys():
        of_kind = [finding for finding in findings if finding["kind"] == kind]
        if len(of_kind) != 1 or kind not in planted or kind not in SUBJECTS:
            yield f"{kind}: {len(of_kind)} findings, planted {'once' if kind in planted else 'never'}"
        else:
            yield from mistakes_of(of_kind[0], planted[kind], min(planted.values()))
    for finding in findings:
        if finding["kind"] not in SUBJECTS:
            yield f"nobody planted this: {finding['title']}"


def mistakes_of(finding, planted, begin):
    service, endpoint, version = SUBJECTS[finding["kind"]]
    subject = finding["subject"]
    if (subject["service"], subject.get("endpoint")) != (service, endpoint):
        yield f"{finding['kind']}: blames {subject}"
    # What began with the data has no beginning.
    since = datetime.datetime.fromisoformat(finding["since"]) if finding["since"] else begin
    if abs(since - planted) > TOLERANCE:
        yield f"{finding['kind']}: since {since:%T}, planted at {planted:%T}"
    for who in finding["who"]:
        if who["dimension"] == "version" and version and who["value"] != version:
            yield f"{finding['kind']}: blames version {who['value']}"
    if finding["kind"] == "ended":
        lines = (ROOT / "Examples/Upstream/Flaw.swift").read_text().splitlines()
        place = next(f"Flaw.swift:{number}" for number, line in enumerate(lines, 1) if CRASH in line)
        if not re.search(re.escape(place) + r"\b", finding["title"]):
            yield f"ended: {place} is not in the title"


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "demo.log" if folder else "/dev/null", "w") as log:
        answer, planted = play(log)
    if folder:
        (folder / "findings.json").write_text(json.dumps(answer, indent=1))
    found = sorted(mistakes([one for one in answer["findings"] if not is_rush(one, planted)], planted))
    for finding in answer["findings"]:
        print(finding["title"])
    print(*(f"WRONG  {mistake}" for mistake in found), sep="\n")
    sys.exit(1 if found else 0)


main()
