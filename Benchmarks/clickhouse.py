#!/usr/bin/env python3
"""Measures a store on ClickHouse: posted points, next to an insert of the same rows by this program and next to the collector's
file; then reports over many points, next to the same sums asked of ClickHouse.

usage: clickhouse.py COLLECTOR STORE_BENCHMARK [POINTS] [current]
       clickhouse.py COLLECTOR STORE_BENCHMARK PROCESSES fleet

Needs clickhouse-server and wrk. POINTS is the number of points that the reports are made of (default: 100 million, half a GB); without
reports it is 0. With `current` it measures only the reports, on ClickHouse's current engine (PyPI's chdb-core). With `fleet` it measures only
reports of so many processes, each with a reading of its ledger every 10 s for a day.
"""
import concurrent.futures
import glob
import http.client
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

COLLECTOR, STORE_BENCHMARK = sys.argv[1:3]
POINTS = int(sys.argv[3]) if len(sys.argv) > 3 else 100_000_000
IS_CURRENT = sys.argv[4:] == ["current"]
IS_FLEET = sys.argv[4:] == ["fleet"]
HERE = pathlib.Path(__file__).parent
SECONDS = 20
# Merges and passes of maintenance that follow the last batch are part of the cost.
AFTERWARDS = 15
TICKS = os.sysconf("SC_CLK_TCK")
# Rows of an insert: the collector's own limit.
BLOCK = 50_000


class Process:
    def __init__(self, *arguments: str, **options) -> None:
        self.process = subprocess.Popen(arguments, **options)

    def cpu(self) -> float:
        """Seconds of CPU so far, all threads: fields 14 and 15 of proc(5), counted behind the name."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def peak(self) -> int:
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) // 1024

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


class ClickHouse(Process):
    def __init__(self, folder: pathlib.Path) -> None:
        ports = [free_port() for _ in range(3)]
        self.port = ports[0]
        folder.mkdir()
        (folder / "users.xml").write_text(
            "<yandex><profiles><default/></profiles><quotas><default/></quotas><users><default><password></password><networks>"
            "<ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users></yandex>"
        )
        (folder / "config.xml").write_text(
            f"<yandex><logger><level>warning</level><log>{folder}/log</log></logger><http_port>{ports[0]}</http_port>"
            f"<tcp_port>{ports[1]}</tcp_port><interserver_http_port>{ports[2]}</interserver_http_port>"
            f"<interserver_http_host>127.0.0.1</interserver_http_host><listen_host>127.0.0.1</listen_host>"
            f"<mark_cache_size>1073741824</mark_cache_size><path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path>"
            f"<user_files_path>{folder}/files/</user_files_path><users_config>users.xml</users_config>"
            "<default_profile>default</default_profile><default_database>default</default_database><timezone>UTC</timezone></yandex>"
        )
        super().__init__("clickhouse-server", f"--config-file={folder}/config.xml", stderr=subprocess.DEVNULL)
        self.wait()

    def wait(self) -> None:
        while True:
            try:
                self.version = self.ask("SELECT version()").decode().strip()
                return
            except OSError:
                time.sleep(0.1)

    def ask(self, sql: str, rows: bytes | None = None) -> bytes:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=3600)
        query = {"wait_end_of_query": 1, "max_memory_usage": 0} | ({"query": sql} if rows is not None else {})
        connection.request("POST", "/?" + urllib.parse.urlencode(query), rows if rows is not None else sql.encode())
        answer = connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            sys.exit(body.decode(errors="replace"))
        return body

    def number(self, sql: str) -> int:
        return int(self.ask(sql))

    def store(self, database: str) -> str:
        """Makes the tables of a store, and returns its name for a collector."""
        store = f"clickhouse:http://127.0.0.1:{self.port}/{database}"
        subprocess.run([COLLECTOR, "migrate", "--store", store], check=True, stdout=subprocess.DEVNULL)
        return store


class CurrentClickHouse(ClickHouse):
    def __init__(self, folder: pathlib.Path) -> None:
        self.port = free_port()
        folder.mkdir()
        server = HERE.parent / "Tests/ChDBServer/server.py"
        Process.__init__(self, HERE.parent / ".build/python/bin/python", server, str(self.port), folder)
        self.wait()


class Collector(Process):
    def __init__(self, store: str) -> None:
        super().__init__(
            COLLECTOR, "serve", "--port", "0", "--store", store, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.address = re.search(r"http://\S+", self.process.stdout.readline())[0]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def main() -> None:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    work = pathlib.Path(tempfile.mkdtemp())
    clickhouse = (CurrentClickHouse if IS_CURRENT else ClickHouse)(work / "clickhouse")
    try:
        load = os.getloadavg()[0]
        print(f"{time.strftime('%F %R', time.gmtime())} UTC, {os.cpu_count()} cores, load {load:.1f}, ClickHouse {clickhouse.version}")
        if IS_FLEET:
            fleet(clickhouse, POINTS)
        elif IS_CURRENT:
            fill(clickhouse, work, "p50c1")
        else:
            post_all(clickhouse, work)
        if POINTS and not IS_FLEET:
            report(clickhouse, "p50c1")
    finally:
        clickhouse.end()
        shutil.rmtree(work)


# Posted points.


def post_all(clickhouse: ClickHouse, work: pathlib.Path) -> None:
    for points, senders, intervals, connections in [(50, 400, 10, 1200), (1000, 80, 4, 80)]:
        bodies = make_bodies(work, points, senders, intervals)
        print(f"{points} points a request, {connections} connections to a collector, {SECONDS} s")
        post_to_file(work, bodies, senders, points, connections)
        for count in (1, 2):
            post(clickhouse, f"p{points}c{count}", bodies, senders, points, connections, count)
        insert(clickhouse, f"p{points}c1")
        for count in (1, 2):
            clickhouse.ask(f"DROP DATABASE p{points}c{count}") if (points, count) != (50, 1) else None


def fill(clickhouse: ClickHouse, work: pathlib.Path, database: str) -> None:
    """Stores the points that reports are made of, without measuring."""
    collector = Collector(clickhouse.store(database))
    wrk([collector.address], make_bodies(work, 50, 400, 1), 400, 40)
    collector.end()


def make_bodies(work: pathlib.Path, points: int, senders: int, intervals: int) -> pathlib.Path:
    bodies = work / f"bodies-{points}"
    sizes = ["--points", str(points), "--senders", str(senders), "--intervals", str(intervals)]
    subprocess.run([STORE_BENCHMARK, "bodies", bodies, *sizes], check=True)
    return bodies


def wrk(addresses: list[str], bodies: pathlib.Path, senders: int, connections: int) -> int:
    """Posts bodies to all addresses at once, each with separate batches over so many connections. Returns the number of requests that
    were accepted."""
    count = len(list(bodies.iterdir()))
    commands = [
        ["wrk", "-t1", f"-c{connections}", f"-d{SECONDS}s", "--timeout", "30s", "-s", HERE / "ingest.lua",
         address, "--", bodies, str(count), str(senders), str(number)]
        for number, address in enumerate(addresses)
    ]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    texts = [one.communicate()[0] for one in running]
    refused = sum(int(found[1]) for text in texts if (found := re.search(r"responses: (\d+)", text)))
    if refused:
        print(f"  {refused} requests were refused")
    return sum(int(re.search(r"(\d+) requests in", text)[1]) for text in texts) - refused


def post(clickhouse: ClickHouse, database: str, bodies: pathlib.Path, senders: int, points: int, connections: int, count: int) -> None:
    store = clickhouse.store(database)
    collectors = [Collector(store) for _ in range(count)]
    before = clickhouse.cpu()
    wrk([one.address for one in collectors], bodies, senders, connections)
    time.sleep(AFTERWARDS)
    stored = clickhouse.number(f"SELECT count() FROM {database}.point")
    own, theirs = sum(one.cpu() for one in collectors), clickhouse.cpu() - before
    peak = max(one.peak() for one in collectors)
    for one in collectors:
        one.end()
    row(f"through {count} collector{'s' if count > 1 else ''}", stored, SECONDS, own, theirs, peak)


def post_to_file(work: pathlib.Path, bodies: pathlib.Path, senders: int, points: int, connections: int) -> None:
    collector = Collector(f"sqlite:{work}/store.sqlite")
    accepted = wrk([collector.address], bodies, senders, min(connections, 200))
    time.sleep(AFTERWARDS)
    own, peak = collector.cpu(), collector.peak()
    collector.end()
    row("through one, into a file", accepted * points, SECONDS, own, 0, peak)
    for file in glob.glob(f"{work}/store.sqlite*"):
        os.remove(file)


def row(name: str, points: int, seconds: float, own: float, theirs: float, peak: int | None = None) -> None:
    cost = f"{own / points * 1e6:.1f} µs of the collectors and {theirs / points * 1e6:.1f} of ClickHouse a point"
    print(f"  {name}: {points / seconds:,.0f} points/s, {cost}" + (f", peak {peak} MiB" if peak else ""))


def insert(clickhouse: ClickHouse, database: str) -> None:
    """Inserts the same rows into a table of the same kind: blocks as large as the collector's, in the order that it has them in."""
    columns = ", ".join(clickhouse.ask(f"SELECT name FROM system.columns WHERE database = '{database}' AND table = 'point'").decode().split())
    count = clickhouse.number(f"SELECT count() FROM {database}.point") // BLOCK
    blocks = [
        clickhouse.ask(
            f"SELECT {columns} FROM {database}.point WHERE cityHash64(batch) % {count} = {number} ORDER BY batch FORMAT RowBinary"
        )
        for number in range(count)
    ]
    table = clickhouse.ask(f"SHOW CREATE TABLE {database}.point FORMAT TSVRaw").decode()
    clickhouse.ask("CREATE DATABASE plain")
    for streams in (1, 2):
        clickhouse.ask(table.replace(f"TABLE {database}.point", f"TABLE plain.point{streams}"))
        statement = f"INSERT INTO plain.point{streams} ({columns}) FORMAT RowBinary"
        before, start = clickhouse.cpu(), time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(streams) as pool:
            list(pool.map(lambda block: clickhouse.ask(statement, block), blocks))
        seconds = time.monotonic() - start
        time.sleep(AFTERWARDS)
        stored = clickhouse.number(f"SELECT count() FROM plain.point{streams}")
        row(f"inserted as rows, {streams} at a time", stored, seconds, 0, clickhouse.cpu() - before)
    clickhouse.ask("DROP DATABASE plain")


# Reports.

HOUR = 3600 * 10**9
SUMS = """count(), sum(count), sum(total), min(low), max(high), sum(zeros), sumMap(indexes, counts), sum(sent), sum(received),
sumForEach(phase_counts), sumForEach(phase_seconds)"""
GROUPS = "service, kind, method, host, port, endpoint, outcome, scale"


def report(clickhouse: ClickHouse, base: str) -> None:
    """Makes a day of points, every 10 s the same, and asks for an hour and for the day."""
    start = (int(time.time()) // 3600 - 26) * HOUR
    store = clickhouse.store("day")
    columns = clickhouse.ask("SELECT name FROM system.columns WHERE database = 'day' AND table = 'point'").decode().split()
    end = f"toInt64(number) * 10000000000 + {start}"
    values = {"hour": f"toUInt32(intDiv({end} - 1, {HOUR}))", "end_ns": end, "start_ns": f"{end} - 10000000000"}
    series = POINTS // 8640
    source = f"SELECT * FROM {base}.point WHERE batch IN (SELECT min(batch) FROM {base}.point GROUP BY sender) LIMIT {series}"
    inserted = ", ".join(values.get(name, name) for name in columns)
    statements = [
        f"INSERT INTO day.point ({', '.join(columns)}) SELECT {inserted} "
        f"FROM (SELECT number FROM system.numbers WHERE number >= {first} LIMIT 360) AS interval CROSS JOIN ({source}) AS one"
        for first in range(1, 8641, 360)
    ]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(clickhouse.ask, statements))
    clickhouse.ask("INSERT INTO day.changed_hour SELECT DISTINCT hour, toUInt8(1), toUInt64(1), toUInt64(1) FROM day.point")
    points = clickhouse.number("SELECT count() FROM day.point")
    print(f"{points:,} points of a day, {series:,} series")
    windows = {"an hour": (start, start + HOUR), "half past to half past": (start + HOUR // 2, start + HOUR + HOUR // 2), "the day": (start, start + 24 * HOUR)}
    print("  of points as they came:")
    compare(clickhouse, store, {name: windows[name] for name in list(windows)[:2]})
    make_hours(clickhouse, store, "day")
    compare(clickhouse, store, windows)


def make_hours(clickhouse: ClickHouse, store: str, database: str) -> None:
    collector, before, since = Collector(store), clickhouse.cpu(), time.monotonic()
    while clickhouse.number(f"SELECT uniqExact(hour) FROM {database}.early_version_hour") < 24:
        time.sleep(1)
    print(f"  hours were made in {time.monotonic() - since:.0f} s, with {clickhouse.cpu() - before:.0f} s of CPU")
    collector.end()


# A fleet.

POINT = {
    "service": "concat('service-', toString(p % 333))", "series": "cityHash64(p % 333)", "sender": "cityHash64(p)", "end_ns": "t",
    "start_ns": "t - 600000000000", "batch": "toFixedString('one', 16)", "points": "toUInt64(1)", "version": "'1'",
    "instance": "toString(p)", "kind": "'client'", "method": "'GET'", "host": "'api'", "endpoint": "'/'", "status": "toInt64(200)",
    "count": "toUInt64(100)", "total": "12.5", "low": "0.0625", "has_low": "toUInt8(1)", "high": "0.5", "has_high": "toUInt8(1)",
    "scale": "toInt8(7)", "indexes": "arrayMap(i -> toInt32(i * 9 - 400), range(20))", "counts": "arrayMap(i -> toUInt64(5), range(20))",
}
READING = {"time": "t", "sender": "cityHash64(p)", "batch": "toFixedString(unhex(hex(cityHash64(p, t))), 16)"}
READING |= {"captured": f"toUInt64(intDiv(t % {24 * HOUR}, 100000000))", "requests": "toUInt64(100)"}


def fleet(clickhouse: ClickHouse, processes: int) -> None:
    store, end = clickhouse.store("fleet"), (int(time.time()) // 3600 - 1) * HOUR
    start = end - 24 * HOUR
    sender = {
        "service": POINT["service"], "id": "cityHash64(p)", "writer": "toUInt64(1)", "revision": "toUInt64(1)", "version": "'1'",
        "instance": "toString(p)", "first_seen": str(start), "first_reading": str(start), "captured": "toUInt64(864000)",
    } | {name: str(end) for name in ("last_seen", "last_end", "last_reading", "time")}
    insert_each(clickhouse, "sender", sender, processes, [end])
    for hour in range(start, end, HOUR):
        insert_each(clickhouse, "ledger", READING, processes, range(hour + 10 * 10**9, hour + HOUR + 1, 10 * 10**9))
        insert_each(clickhouse, "point", POINT, processes, range(hour + 600 * 10**9, hour + HOUR + 1, 600 * 10**9))
    clickhouse.ask("INSERT INTO fleet.changed_hour SELECT DISTINCT hour, toUInt8(1), toUInt64(1), toUInt64(1) FROM fleet.point")
    print(f"{processes:,} processes, {clickhouse.number('SELECT count() FROM fleet.ledger'):,} readings")
    windows = {"ten minutes": end - 600 * 10**9, "an hour": end - HOUR, "the day": start}
    for name in "as they came", "with hours made":
        for window, since in windows.items():
            arguments = [COLLECTOR, "report", "--store", store, "--since", text(since), "--until", text(end), "--top", "10"]
            own = median(lambda: subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL))
            print(f"  {window}, {name}: report {own:.2f} s")
        if name == "as they came":
            make_hours(clickhouse, store, "fleet")


def insert_each(clickhouse: ClickHouse, table: str, values: dict[str, str], processes: int, times) -> None:
    """Inserts a row for each process p and time t."""
    types = clickhouse.ask(f"SELECT name, type FROM system.columns WHERE database = 'fleet' AND table = '{table}'").decode().split()
    values = {"hour": f"toUInt32(intDiv(t - 1, {HOUR}))"} | values
    empty = lambda kind: "''" if kind == "String" else f"CAST({'[]' if kind.startswith('Array') else 0} AS {kind})"
    columns = {name: values.get(name, empty(kind)) for name, kind in zip(types[::2], types[1::2])}
    clickhouse.ask(
        f"INSERT INTO fleet.{table} ({', '.join(columns)}) SELECT {', '.join(columns.values())} "
        f"FROM (SELECT arrayJoin([{', '.join(f'toInt64({one})' for one in times)}]) AS t) "
        f"CROSS JOIN (SELECT number AS p FROM system.numbers LIMIT {processes})"
    )


def compare(clickhouse: ClickHouse, store: str, windows: dict[str, tuple[int, int]]) -> None:
    for name, (start, end) in windows.items():
        hours = f"hour BETWEEN {start // HOUR} AND {(end - 1) // HOUR} AND end_ns > {start} AND end_ns <= {end}"
        sql = f"SELECT {GROUPS}, {SUMS} FROM day.point %s WHERE {hours} GROUP BY {GROUPS} FORMAT RowBinary"
        arguments = [COLLECTOR, "report", "--store", store, "--since", text(start), "--until", text(end), "--top", "10"]
        plain = median(lambda: clickhouse.ask(sql % ""))
        final = median(lambda: clickhouse.ask(sql % "FINAL"))
        own = median(lambda: subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL))
        print(
            f"  {name}: report {own:.2f} s; ClickHouse {final:.2f} s with FINAL (ratio {own / final:.2f}), "
            f"{plain:.2f} s with what comes again counted twice (ratio {own / plain:.2f})"
        )


def text(time_: int) -> str:
    return time.strftime("%FT%TZ", time.gmtime(time_ // 10**9))


def median(body) -> float:
    times = []
    for _ in range(3):
        start = time.monotonic()
        body()
        times.append(time.monotonic() - start)
    return sorted(times)[1]


main()
