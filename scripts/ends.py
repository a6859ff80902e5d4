#!/usr/bin/env python3
"""Ends a service in every way, in four builds, and compares what a collector says of each end with the truth.

    scripts/ends.py [PATTERN]     only the ends whose names match, such as 'release.* cast'

The builds are debug and -O, with Swift's libraries in the program and without. After each end the service's next process starts
on the same buffer. Prints a table for each build. Exits with 1 if an end is not counted once, if too many causes or lines are
wrong, or if a clean end is named. Needs the collector of `scripts/build.sh --build-tests`. As root, it also lets the kernel end
a service for its memory.
"""

import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLLECTOR = ROOT / ".build/debug/martlet-collector"
SOURCE = ROOT / "Tests/FaultProgram/Ending.swift"
BUILDS = {
    "debug": [],
    "debug-static": ["--static-swift-stdlib"],
    "release": ["-c", "release"],
    "release-static": ["-c", "release", "--static-swift-stdlib"],
}
# The shares that must be right: 195 of 200 causes, 95 of 100 lines.
RIGHT_CAUSES, RIGHT_LINES = 0.975, 0.95
AT_ONCE = 3
# The longest time of one process in seconds, on a machine that does other work too.
PATIENCE = 120
# The version of control groups that has the memory of this machine, its folder and the file of its limit.
GROUPS = [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")]
MEMORY = 96 << 20

TRAP = {"SIGILL", "SIGTRAP"}
CRASHES = {
    "trapped": TRAP, "unwrapped": TRAP, "outOfBounds": TRAP, "overflowed": TRAP, "divided": TRAP, "failed": TRAP,
    "cast": {"SIGABRT"}, "aborted": {"SIGABRT"}, "wild": {"SIGSEGV"}, "overran": {"SIGSEGV"},
}
PLACES = ["main", "task", "actor", "queue", "thread", "request"]


@dataclasses.dataclass(frozen=True)
class End:
    """An end and the truth about it."""

    build: str
    kind: str
    place: str
    cause: str

    @property
    def name(self):
        return f"{self.build} {self.place} {self.kind}"

    @property
    def service(self):
        return self.name.replace(" ", "-")

    @property
    def is_crash(self):
        return self.cause == "signal"


@dataclasses.dataclass
class Verdict:
    """What the collector says of an end."""

    end: End
    is_counted: bool = False
    is_cause_right: bool = False
    is_line_right: bool = False
    said: str = ""


def all_ends(build):
    """Returns the ends of a build."""
    crashes = [End(build, kind, place, "signal") for kind in CRASHES for place in PLACES]
    # A stack that overflows on a thread without an alternate stack leaves no trace (docs/crashes.md).
    crashes.append(End(build, "overran", "bare", "signal"))
    others = {
        "exit": ("exit", PLACES), "returned": ("exit", ["main"]), "quit": ("killed", ["main", "request"]),
        "killed": ("killed", ["main", "task", "request", "outside"]), "terminated": ("killed", ["main", "request"]),
        "interrupted": ("no_time", ["main"]), "lingered": ("no_time", ["outside"]),
        "shutdown": ("clean", ["main", "outside"]), "hurried": ("clean", ["main", "task"]),
    }
    ends = crashes + [End(build, kind, place, cause) for kind, (cause, places) in others.items() for place in places]
    return ends + ([End(build, "starved", "main", "out_of_memory")] if memory_groups() else [])


def memory_groups():
    """Returns the folder of the control groups that can limit memory, and the file of a group's limit."""
    for folder, file in GROUPS:
        controllers = pathlib.Path(folder, "cgroup.subtree_control")
        if os.access(folder, os.W_OK) and (
            pathlib.Path(folder, file).exists() or (controllers.exists() and "memory" in controllers.read_text())
        ):
            return pathlib.Path(folder), file
    return None


def build(name):
    """Builds the program that ends, and returns its path."""
    command = ["swift", "build", "--scratch-path", f".build/ends-{name}", "--disable-index-store", "--product", "FaultProgram"]
    command += BUILDS[name]
    # The tests' builds optimize modules of the agent that a service builds without optimization.
    environment = {key: value for key, value in os.environ.items() if key != "MARTLET_OPTIMIZE_FOR_TESTS"}
    log = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if log.returncode != 0:
        sys.exit(f"{name} cannot be built:\n{log.stdout[-4000:]}{log.stderr[-2000:]}")
    folder = subprocess.run([*command, "--show-bin-path"], cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return pathlib.Path(folder.stdout.strip(), "FaultProgram")


def crash_lines():
    """Returns the lines of each crash in the program's source, by its kind: a stack may overflow at the begin of a function."""
    lines = {}
    for number, line in enumerate(SOURCE.read_text().splitlines(), 1):
        if found := re.search(r"// end: (\w+)$", line):
            lines.setdefault(found[1], set()).add(number)
    assert set(lines) == set(CRASHES), set(lines) ^ set(CRASHES)
    return lines


class Collector:
    """A collector on a free port, and its answers."""

    def __init__(self, folder):
        self.store = folder / "store.sqlite"
        command = [COLLECTOR, "serve", "--host", "127.0.0.1", "--port", "0", "--store", f"sqlite:{self.store}"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=open(folder / "collector.log", "w"), text=True)
        line = self.process.stdout.readline()
        self.address = re.search(r"http://[^ \n]*", line)[0]
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def get(self, path, **parameters):
        query = "?" + urllib.parse.urlencode(parameters) if parameters else ""
        with urllib.request.urlopen(f"{self.address}{path}{query}", timeout=PATIENCE) as answer:
            return answer.read().decode()

    def json(self, path, **parameters):
        return json.loads(self.get(path, **parameters))

    def rows(self):
        """Returns the stored ends of each service."""
        rows = {}
        with sqlite3.connect(f"file:{self.store}?mode=ro", uri=True) as database:
            database.row_factory = sqlite3.Row
            for row in database.execute("SELECT * FROM process_end"):
                rows.setdefault(row["service"], []).append(row)
        return rows

    def totals(self):
        """Returns the number of ends of each service and cause in /metrics. A new series shows 0 for a while."""
        deadline = time.monotonic() + PATIENCE * 3
        while True:
            totals = self.current_totals()
            if all(all(counts.values()) for counts in totals.values()) or time.monotonic() > deadline:
                return totals
            time.sleep(5)

    def current_totals(self):
        pattern = re.compile(r'^martlet_process_ends_total\{(.*)\} (\d+)', re.M)
        totals = {}
        for labels, count in pattern.findall(self.get("/metrics")):
            label = dict(re.findall(r'(\w+)="([^"]*)"', labels))
            totals.setdefault(label["service_name"], {})[label["cause"]] = int(count)
        return totals

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)


class Service:
    """The processes of a service that ends."""

    def __init__(self, end, program, collector, folder):
        self.end, self.program = end, program
        self.folder = folder / end.service
        (self.folder / "ended").mkdir(parents=True)
        self.collector = collector.address
        self.environment = os.environ | {
            "MARTLET_ENDPOINT": collector.address, "MARTLET_BUFFER_DIR": str(self.folder / "buffer"),
            "MARTLET_SERVICE_NAME": end.service, "MARTLET_LOG_LEVEL": "error",
            # The collector remembers some hundreds of troubles of an environment. One build has none, as many services.
            "MARTLET_ENVIRONMENT": "" if end.build == "debug" else end.build,
        }

    def start(self, *arguments, group=None):
        command = [
            self.program, "--server", self.collector, "--life", "life", "--ended", self.folder / "ended", "--workers", "1", *arguments,
        ]
        join = (lambda: (group / "cgroup.procs").write_text(str(os.getpid()))) if group else None
        return subprocess.Popen(
            command, env=self.environment, stdout=subprocess.PIPE, stderr=open(self.folder / "errors", "a"), text=True, preexec_fn=join)

    def run(self):
        """Ends the first process, and lets the next one report that."""
        if self.end.place == "outside":
            self.end_from_outside()
        elif self.end.kind == "starved":
            self.starve()
        else:
            self.await_end(self.start(*self.arguments()))
        self.await_end(self.start("--requests", "1", "--flushes", "5"))

    def await_end(self, process):
        try:
            process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            print(f"{self.end.name}: a process did not end")

    def arguments(self):
        if self.end.kind == "shutdown":
            return ["--requests", "1"]
        if self.end.kind == "interrupted":
            # The shutdown has begun, and no batch that reports it is stored.
            return ["--requests", "1", "--flushes", "0", "--die", "closed:1"]
        # A process that reported nothing has no end that would have to be reported.
        requests = ["--requests", "1"] if self.end.kind == "hurried" else []
        return ["--end", self.end.kind, "--in", self.end.place, *requests]

    def end_from_outside(self):
        """Asks a service to stop that makes requests, or kills it. One lingers after it was asked, and is killed then."""
        arguments = ["--end", "lingered"] if self.end.kind == "lingered" else []
        process = self.start("--lifecycle", *arguments)
        deadline = time.monotonic() + PATIENCE
        ended = self.folder / "ended/life+worker-0"
        while not (ended.exists() and ended.stat().st_size > 0):
            assert process.poll() is None and time.monotonic() < deadline, f"{self.end.name}: the service does not work"
            time.sleep(0.01)
        if self.end.kind != "killed":
            process.send_signal(signal.SIGTERM)
        if self.end.kind == "lingered":
            process.stdout.readline()
        if self.end.kind != "shutdown":
            process.kill()
        self.await_end(process)

    def starve(self):
        folder, file = memory_groups()
        group = folder / f"martlet-ends-{os.getpid()}-{self.end.build}"
        group.mkdir()
        try:
            (group / file).write_text(str(MEMORY))
            swap = group / file.replace("limit_in", "memsw.limit_in").replace("max", "swap.max")
            if swap.exists():
                swap.write_text("0" if "max" in file else str(MEMORY))
            self.await_end(self.start(*self.arguments(), group=group))
        finally:
            group.rmdir()


def judge(end, rows, totals, lines):
    """Compares the rows of a service with the truth. Its second process ends cleanly, which is one more row."""
    verdict = Verdict(end)
    others = [row for row in rows if row["cause"] != "clean"]
    counts = {"clean": 2} if end.cause == "clean" else {"clean": 1, end.cause: 1}
    instances = {row["instance"] for row in rows}
    verdict.is_counted = len(rows) == len(instances) == 2 == sum(totals.values())
    row = others[0] if others else rows[0] if rows else None
    if row is None:
        verdict.said = "nothing"
        return verdict
    place = f"{row['file']}:{row['line']}" if row["file"] else row["function"]
    verdict.said = " ".join(filter(None, [row["cause"], row["signal"], place, row["endpoint"]]))
    verdict.is_cause_right = totals == counts and row["cause"] == end.cause
    if end.is_crash:
        verdict.is_cause_right = verdict.is_cause_right and row["signal"] in CRASHES[end.kind]
        verdict.is_line_right = row["file"] == f"FaultProgram/{SOURCE.name}" and row["line"] in lines[end.kind]
    if end.place == "request":
        verdict.is_cause_right = verdict.is_cause_right and row["endpoint"] == "GET /ending/{place}"
    return verdict


def show(verdicts):
    """Prints a table for each build: the number of ends, and how many are right, by kind."""
    for build in dict.fromkeys(verdict.end.build for verdict in verdicts):
        print(f"\n{build:<16}{'ends':>6}{'counted once':>14}{'cause':>7}{'line':>6}")
        of_build = [verdict for verdict in verdicts if verdict.end.build == build]
        for kind in dict.fromkeys(verdict.end.kind for verdict in of_build):
            cells = [verdict for verdict in of_build if verdict.end.kind == kind]
            lines = sum(cell.is_line_right for cell in cells) if cells[0].end.is_crash else ""
            counted, causes = sum(cell.is_counted for cell in cells), sum(cell.is_cause_right for cell in cells)
            print(f"  {kind:<14}{len(cells):>6}{counted:>14}{causes:>7}{lines:>6}")
    print()
    for verdict in verdicts:
        if not (verdict.is_counted and verdict.is_cause_right and (verdict.is_line_right or not verdict.end.is_crash)):
            print(f"! {verdict.end.name}: {verdict.end.cause}; the collector says: {verdict.said}")


def findings(collector, verdicts):
    """Returns the causes in the findings of each service, once the collector has judged the last crash."""
    crashes = [verdict.end.service for verdict in verdicts if verdict.end.is_crash]
    deadline = time.monotonic() + 300
    while True:
        found = {
            verdict.end.service: " ".join(
                json.dumps([finding["title"], finding["what"]])
                for finding in collector.json("/api/v1/findings", kind="ended", service=verdict.end.service, since="2h")["findings"])
            for verdict in verdicts
        }
        if all(found[service] for service in crashes) or time.monotonic() > deadline:
            return found
        time.sleep(5)


def named_clean(collector, verdicts):
    """Returns the clean ends that a finding or the list of agents shows as others, and the number of lines in findings."""
    found = findings(collector, verdicts)
    agents = {}
    for agent in collector.json("/api/v1/agents", since="2h")["agents"]:
        agents.setdefault(agent["service"], []).append(agent.get("ended", {}).get("reason"))
    wrong = [
        f"{verdict.end.name}: {agents[verdict.end.service]} {found[verdict.end.service]}"
        for verdict in verdicts
        if verdict.end.cause == "clean" and (found[verdict.end.service] or set(agents[verdict.end.service]) != {"shut down"})
    ]
    return wrong, sum(bool(re.search(rf"at {SOURCE.name}:\d", text)) for text in found.values())


def main():
    pattern = re.compile(sys.argv[1] if len(sys.argv) > 1 else "")
    ends = [end for name in BUILDS for end in all_ends(name) if pattern.search(end.name)]
    lines = crash_lines()
    programs = {name: build(name) for name in dict.fromkeys(end.build for end in ends)}
    if not memory_groups():
        print("No group of processes can be limited here: no service runs out of memory.")
    with tempfile.TemporaryDirectory(prefix="martlet-ends-") as folder, Collector(pathlib.Path(folder)) as collector:
        services = [Service(end, programs[end.build], collector, pathlib.Path(folder)) for end in ends]
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            for _ in pool.map(Service.run, services):
                pass
        rows, totals = collector.rows(), collector.totals()
        verdicts = [judge(end, rows.get(end.service, []), totals.get(end.service, {}), lines) for end in ends]
        wrong, in_findings = named_clean(collector, verdicts)
    show(verdicts)
    crashes = [verdict for verdict in verdicts if verdict.end.is_crash]
    counted = sum(verdict.is_counted for verdict in verdicts)
    causes = sum(verdict.is_cause_right for verdict in verdicts)
    in_lines = sum(verdict.is_line_right for verdict in crashes)
    print(
        f"{len(ends)} ends: {counted} counted once, {causes} causes right. {len(crashes)} crashes: {in_lines} lines right, "
        f"{in_findings} of them in a finding. Clean ends that are named: {len(wrong)}", *wrong, sep="\n  ")
    is_right = counted == len(ends) and causes >= RIGHT_CAUSES * len(ends) and in_lines >= RIGHT_LINES * len(crashes)
    sys.exit(0 if is_right and not wrong else 1)


if __name__ == "__main__":
    main()
