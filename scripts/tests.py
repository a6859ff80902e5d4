#!/usr/bin/env python3
"""Runs the built tests in several processes, runs every lane to its end, and lists all failures at the end.

    scripts/tests.py LANE…                  runs lanes, such as `agent collector`
    scripts/tests.py --filter PATTERN…      runs the tests whose names match: a test, a suite or a target
    scripts/tests.py --lanes                prints the lanes

A process runs its tests one after the other, so each time is a test's own. A test that is still running at its limit fails by
its name, and its process ends. A lane fails if one of its patterns matches no test. Where CI is set, a test that is skipped
because something is missing fails too.
"""

import argparse
import collections
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUNDLE = ROOT / ".build/debug/martletPackageTests.xctest"
TIMES = ROOT / ".build/test-times.json"
PROCESSES = 4
LIMIT = 300


@dataclasses.dataclass(frozen=True)
class Lane:
    """Tests that run in one environment."""

    description: str
    # Regular expressions for names like `CollectorTests.ReportTests/emptyReport()`. Each must match a test.
    tests: list
    without: list = dataclasses.field(default_factory=list)
    environment: dict = dataclasses.field(default_factory=dict)
    # The time limit, in seconds, of one test, or of one case of a test with arguments.
    limit: int = LIMIT
    # The number of processes for all tests. Tests that share a server need a single process.
    processes: int = PROCESSES
    # The assumed seconds of a test that no earlier run on this machine has measured.
    usual: float = 0.2


# Suites of CollectorTests that start a ClickHouse, whichever store is tested. They say so in their files.
CLICKHOUSE = [
    rf"^CollectorTests\.{file.stem}/" for file in sorted(ROOT.glob("Tests/CollectorTests/ClickHouseStorage/*Tests.swift"))
    if '"a ClickHouse is installed"' in file.read_text()
]
# Tests that need nginx, OpenSSL, curl or a list of words.
TOOLS = [
    r"^CollectorTests\.TLSTests/", r"^CollectorTests\.ReadinessTests/healthIsAnswered", r"^EndToEndTests\.TrustTests/",
    r"^MartletTests\.SegmentShapeTests/wordsAreNames",
]
ON_CLICKHOUSE = r"/cumulativeCountsContinueInAnotherCollectorOnTheSameClickHouse"
KILLS = r"^FaultTests\.FaultTests/(Collector|Kill)Tests/"
FAULTS_ON_CLICKHOUSE = r"^FaultTests\.FaultTests/ClickHouse"
FUZZING = r"/apiMatchesItsDescription"
CONTRACT = r"^CollectorTests\.StorageContractTests/"
STORES = [CONTRACT, *CLICKHOUSE]
# Starts servers, each with its own files.
OWN_SERVERS = r"\.ClickHouseProcessTests/"

LANES = {
    # README's `make test`, on a machine with headers, Python and nginx.
    "agent": Lane("the agent", [r"^Martlet(OTLP|Telemetry)?Tests\."], without=TOOLS[3:]),
    "collector": Lane("the collector on SQLite", [r"^CollectorTests\."], without=CLICKHOUSE + TOOLS[:2]),
    "system": Lane(
        "services, agents and collectors as processes, and their deaths", [r"^EndToEndTests\.", KILLS],
        without=[r"\.(Consumer|Database|Page|Prometheus)Tests/", r"/gRPCCalls", ON_CLICKHOUSE, TOOLS[2]], usual=5),
    "parity": Lane("a program with and without the agent", [r"^ParityTests\."]),
    # Also in CI.
    "page": Lane("the page in Chromium, and the API as it describes itself", [r"^EndToEndTests\.PageTests/"], limit=600),
    "tools": Lane("TLS and proxies with nginx, OpenSSL and curl", TOOLS),
    "contract": Lane(
        "the contract of all stores on ClickHouse", [CONTRACT], environment={"MARTLET_TEST_STORE": "clickhouse"}, processes=1),
    "faults": Lane(
        "faults of processes, networks, disks and clocks", [r"^FaultTests\."], without=[KILLS, FAULTS_ON_CLICKHOUSE], usual=5),
    # The rest of `make verify`.
    "clickhouse": Lane("the store on ClickHouse", [*CLICKHOUSE, ON_CLICKHOUSE, FAULTS_ON_CLICKHOUSE], limit=600, processes=2),
    "end-on-clickhouse": Lane(
        "the way from end to end, to ClickHouse", [r"^EndToEndTests\.(Chain|ReportTruth)Tests/", r"/pageCommandAndAPI"],
        environment={"MARTLET_TEST_STORE": "clickhouse"}, processes=1),
    "recipes": Lane(
        "the recipes as their own package builds them", [r"^EndToEndTests\.RecipeTests/"],
        environment={"MARTLET_RECIPES": ".build/recipes/debug"}),
    "prometheus": Lane("Prometheus scrapes a collector", [r"^EndToEndTests\.PrometheusTests/"]),
    "database": Lane("a service's calls of PostgreSQL", [r"^EndToEndTests\.DatabaseTests/"]),
    "consumer": Lane("a package of a user, linked statically", [r"^EndToEndTests\.ConsumerTests/"], limit=1200),
    "urlsession": Lane(
        "uploads over URLSession", [r"^MartletTests\.AgentTests/", r"^FaultTests\.FaultTests/(Answer|Proxy)Tests/", r"\.OutageTests/"],
        environment={"MARTLET_TRANSPORT": "urlsession"}),
    "fuzzing": Lane("a fuzzer of the API", [FUZZING], environment={"MARTLET_API_FUZZING": "1"}, limit=900),
    "disks": Lane(
        "every case of a disk in trouble", [r"^FaultTests\.FaultTests/DiskTests/"], environment={"MARTLET_FAULTS": "full"}),
    "chdb": Lane(
        "the stores' contract on the current ClickHouse", STORES, without=[OWN_SERVERS],
        environment={"MARTLET_TEST_STORE": "chdb"}, processes=1),
    "cluster": Lane(
        "the stores' contract on a cluster of ClickHouse", STORES, without=[OWN_SERVERS],
        environment={"MARTLET_TEST_STORE": "clickhouse-cluster"}, limit=600, processes=1),
    # `make faults`: hours.
    "faults-full": Lane(
        "every fault in its full form", [r"^FaultTests\."], environment={"MARTLET_FAULTS": "full"}, limit=3600, processes=1),
    "faults-urlsession": Lane(
        "every fault in its full form, with uploads over URLSession", [r"^FaultTests\."], without=[FAULTS_ON_CLICKHOUSE],
        environment={"MARTLET_FAULTS": "full", "MARTLET_TRANSPORT": "urlsession"}, limit=3600, processes=1),
}

# The reasons of skipped tests that belong to another lane. Any other skip means that this machine lacks something.
OTHER_LANES = re.compile(r"the full form|belongs to another lane")


@dataclasses.dataclass
class Failure:
    test: str
    lane: str
    place: str
    text: str


class Results:
    """What all processes have reported. Any thread may call its methods."""

    def __init__(self):
        self.lock = threading.Lock()
        self.seconds = collections.Counter()
        self.failures = []
        self.skipped = {}
        self.passed = 0
        self.processes = set()

    def add_failure(self, failure):
        with self.lock:
            self.failures.append(failure)
        print(f"✘ {failure.test} ({failure.lane}) {failure.place}\n    " + failure.text.replace("\n", "\n    "), flush=True)


class Chunk:
    """Suites that one process runs, and the events that it reports about them."""

    def __init__(self, name, lane, tests, suites):
        self.name, self.lane, self.tests, self.suites = name, lane, tests, suites
        self.ended, self.running, self.began = set(), None, 0.0
        self.failed = set()

    def filters(self):
        """Returns the arguments that select the tests which have not ended: a whole suite if none of its tests has ended."""
        arguments, remaining = [], collections.defaultdict(set)
        for test in self.tests:
            if test not in self.ended:
                remaining[suite(test)].add(test)
        for name, tests in remaining.items():
            patterns = [f"^{re.escape(name)}/[^/]+\\("] if tests == self.suites[name] else [f"^{re.escape(test)}(/|$)" for test in tests]
            arguments += [part for pattern in patterns for part in ("--filter", pattern)]
        return arguments

    def take(self, event, results):
        """Handles one line of the event stream."""
        if event.get("kind") != "event":
            return
        payload = event["payload"]
        kind, moment = payload["kind"], payload["instant"]["absolute"]
        test = re.sub(r"/[^/]+\.swift:\d+:\d+$", "", payload.get("testID") or "")
        texts = [message["text"] for message in payload.get("messages", [])]
        if kind in ("testStarted", "testCaseStarted") and test.endswith(")"):
            self.running, self.began, self.start = test, time.monotonic(), moment
        elif kind == "testCaseEnded":
            results.seconds[test] += moment - self.start
            self.start = moment
        elif kind == "testEnded" and test.endswith(")"):
            results.seconds[test] += moment - self.start
            self.ended.add(test)
            self.running = None
            if test not in self.failed:
                with results.lock:
                    results.passed += 1
        elif kind == "testSkipped":
            self.ended.add(test)
            if test.endswith(")"):
                results.skipped[(self.name, test)] = " ".join(texts)
        elif kind == "issueRecorded" and not payload["issue"].get("isKnown") and payload["issue"].get("isFailure", True):
            place = payload["issue"].get("sourceLocation") or {}
            path = place.get("_filePath") or place.get("filePath") or place.get("fileID", "?")
            self.failed.add(test)
            results.add_failure(Failure(test or self.running or "?", self.name,
                                        f"{os.path.relpath(path, ROOT)}:{place.get('line', '?')}", "\n".join(texts)))

    def run(self, results):
        """Runs the tests that have not ended, in one process. Returns whether some remain for another process."""
        before = len(self.ended)
        with tempfile.TemporaryDirectory(prefix="martlet-tests-") as folder:
            events = os.path.join(folder, "events")
            os.mkfifo(events)
            reader = os.open(events, os.O_RDONLY | os.O_NONBLOCK)
            output = open(os.path.join(folder, "output"), "wb+")
            process = subprocess.Popen(
                [BUNDLE, "--testing-library", "swift-testing", "--no-parallel", "--event-stream-output-path", events,
                 "--event-stream-version", "0", *self.filters()],
                cwd=ROOT, env=os.environ | self.lane.environment, stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, start_new_session=True)
            results.processes.add(process)
            self.read(reader, process, results)
            results.processes.discard(process)
            os.close(reader)
            output.seek(0)
            tail = output.read().decode(errors="replace")
            output.close()
        lost = [test for test in self.tests if test not in self.ended]
        if process.returncode not in (0, 1) and self.running:
            self.fail(results, f"The process ended with status {process.returncode} within this test.\n{tail[-3000:]}")
        elif lost and len(self.ended) == before:
            self.running = lost[0]
            self.fail(results, f"The process ended with status {process.returncode} and did not run this test.\n{tail[-3000:]}")
        return any(test not in self.ended for test in self.tests)

    def fail(self, results, text):
        results.add_failure(Failure(self.running, self.name, "", text))
        self.failed.add(self.running)
        self.ended.add(self.running)
        self.running = None

    def read(self, reader, process, results):
        """Reads events until the process has ended. Ends the process when a test exceeds its limit."""
        rest = b""
        while True:
            ready, _, _ = select.select([reader], [], [], 0.5)
            ended = process.poll() is not None
            data = os.read(reader, 1 << 20) if ready else b""
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self.take(json.loads(line), results)
            if ended and not data:
                return
            if not data:
                time.sleep(0.02)
            if self.running and time.monotonic() - self.began > self.lane.limit:
                kill(process)
                process.wait()
                self.fail(results, f"The test was still running after {self.lane.limit} s.")


def kill(process):
    """Ends a process of tests and the programs that it started. They are in its session, but in separate process groups."""
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # The name is in parentheses and may contain any character. After it come state, parent, group and session.
            if int(stat.read_text().rsplit(")", 1)[1].split()[3]) == process.pid:
                os.kill(int(stat.parent.name), signal.SIGKILL)


def built_tests():
    """Returns the names of all built tests."""
    listing = subprocess.run([BUNDLE, "--testing-library", "swift-testing", "--list-tests"], cwd=ROOT, check=True,
                             capture_output=True, text=True)
    return sorted(re.sub(r"/[^/]+\.swift:\d+:\d+$", "", line) for line in listing.stdout.splitlines() if line)


def suite(test):
    return test.rsplit("/", 1)[0]


def suites(tests):
    """Returns the tests of each suite."""
    result = collections.defaultdict(set)
    for test in tests:
        result[suite(test)].add(test)
    return result


def selected(lane, names, tests):
    unmatched = [pattern for pattern in lane.tests + lane.without if not any(re.search(pattern, test) for test in tests)]
    if unmatched:
        sys.exit(f"{names}: no test matches {', '.join(unmatched)}")
    return [test for test in tests if any(re.search(pattern, test) for pattern in lane.tests)
            and not any(re.search(pattern, test) for pattern in lane.without)]


def chunks(name, lane, all_tests, times):
    """Divides the lane's tests among processes: a suite stays whole, and short suites share a process."""
    members = suites(selected(lane, name, all_tests))
    cost = {name: sum(times.get(test, lane.usual) for test in tests) for name, tests in members.items()}
    ordered = sorted(members, key=cost.get, reverse=True)
    size = max(12.0, sum(cost.values()) / (lane.processes * 6))
    result, load = [], []
    for one in ordered:
        place = next((index for index, seconds in enumerate(load) if seconds + cost[one] <= size), None)
        if place is None:
            place = len(result)
            result.append([])
            load.append(0.0)
        result[place] += sorted(members[one])
        load[place] += cost[one]
    if lane.processes == 1:
        result, load = [[test for part in result for test in part]], [sum(load)]
    return [(seconds, Chunk(name, lane, tests, suites(all_tests))) for tests, seconds in zip(result, load)]


def run_all(queue, results):
    """Runs the chunks, the longest first."""
    lock = threading.Lock()

    def work():
        while True:
            with lock:
                if not queue:
                    return
                _, chunk = queue.pop(0)
            while chunk.run(results):
                pass
            print(f"  {len(chunk.tests):4} tests of {chunk.name}: {suite(chunk.tests[0])} …", flush=True)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(PROCESSES)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        for process in list(results.processes):
            kill(process)
        sys.exit(130)


def report(results, began):
    print("\nThe twenty slowest tests, by their own time in seconds:")
    for test, seconds in results.seconds.most_common(20):
        print(f"{seconds:8.2f}  {test}")
    missing = {key: why for key, why in results.skipped.items() if not OTHER_LANES.search(why)}
    if missing:
        print("\nSkipped:")
        for (lane, test), why in sorted(missing.items()):
            print(f"  {test} ({lane}): {why}")
        if os.environ.get("CI"):
            for (lane, test), why in missing.items():
                results.failures.append(Failure(test, lane, "", f"CI has to run this test, and it was skipped: {why}"))
    print(f"\n{time.monotonic() - began:.0f} s in all, {sum(results.seconds.values()):.0f} s of tests.")
    failed = {}
    for failure in results.failures:
        failed.setdefault((failure.lane, failure.test), failure)
    for failure in list(failed.values())[:7]:
        print(f"\nFAILED {failure.test}\n  {failure.place} {failure.text.splitlines()[0][:200]}\n"
              f"  scripts/tests.py --filter '{failure.test.split('(')[0]}'")
    if len(failed) > 7:
        print(f"\n… and {len(failed) - 7} more, each above at its ✘.")
    print(f"\n{results.passed} passed, {len(failed)} failed, {len(results.skipped)} skipped")
    return 1 if failed or not results.passed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lanes", nargs="*", metavar="LANE")
    parser.add_argument("--filter", nargs="+", default=[], metavar="PATTERN")
    parser.add_argument("--lanes", action="store_true", dest="listed")
    asked = parser.parse_args()
    if asked.listed:
        print("\n".join(f"{name:12} {lane.description}" for name, lane in LANES.items()))
        return 0
    if unknown := [name for name in asked.lanes if name not in LANES]:
        parser.error(f"no lane is called {', '.join(unknown)}: {', '.join(LANES)}")
    lanes = {name: LANES[name] for name in asked.lanes}
    if asked.filter:
        lanes["filter"] = Lane("", asked.filter)
    began, results, tests = time.monotonic(), Results(), built_tests()
    times = json.loads(TIMES.read_text()) if TIMES.exists() else {}
    queue = [part for name, lane in lanes.items() for part in chunks(name, lane, tests, times)]
    run_all(sorted(queue, key=lambda part: -part[0]), results)
    for _, chunk in queue:
        for test in set(chunk.tests) - chunk.ended:
            results.add_failure(Failure(test, chunk.name, "", "This test was not run."))
    TIMES.write_text(json.dumps(times | results.seconds, indent=0))
    return report(results, began)


if __name__ == "__main__":
    sys.exit(main())
