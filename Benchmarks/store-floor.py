#!/usr/bin/env python3
"""Measures the sqlite3 shell on the points of a window of a store: as they are, and with a row for each point, of which it also
makes the first 100 rows of a report by service, method, host and endpoint, without quantiles.

usage: store-floor.py STORE 1h|30d [NOW]

NOW is the time of the report in seconds since 1970.
"""
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time

NANOSECONDS = 1_000_000_000
LENGTHS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
# Lengths replace the figures of a point, and the number of points replaces that of requests. Adding up by series first takes half
# as long as adding up by names.
ROWS = """
    SELECT service, kind, method, host, endpoint, sum(points) AS points, sum(bytes), max(latest)
    FROM (
        SELECT series, count(*) AS points, sum(length(entry)) AS bytes, max(end_time) AS latest
        FROM point WHERE end_time > {start} GROUP BY series)
    JOIN series ON series.id = series
    GROUP BY service, kind, method, host, endpoint ORDER BY points DESC LIMIT 100
    """


def main() -> None:
    path, since, *now = sys.argv[1:]
    end = int(now[0]) * NANOSECONDS if now else time.time_ns()
    start = end - int(since[:-1]) * LENGTHS[since[-1]] * NANOSECONDS
    condition = rows_of(start, end)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(path))) as folder:
        flat = os.path.join(folder, "flat.sqlite")
        count = flatten(path, condition, flat)
        print(f"since {since}: {count} points")
        whole = f"SELECT sum(length(points)) FROM version_chunk WHERE {condition}"
        report("chunks, only lengths", path, whole)
        # For the length of a BLOB, SQLite reads only the head of the row. The cast makes it read all bytes.
        report("chunks, all bytes", path, f"SELECT sum(length(CAST(points AS TEXT) || '')) FROM version_chunk WHERE {condition}")
        report("a row for each point", flat, f"SELECT sum(length(entry)) FROM point WHERE end_time > {start}")
        report("100 rows of a report", flat, ROWS.format(start=start), "rows")


def rows_of(start: int, end: int) -> str:
    """Returns a condition for the rows of a window, except for some seconds at both ends. The collector reads days in place of
    old hours."""
    hour = 3600 * NANOSECONDS
    first, last = -(-start // hour) * hour, end // hour * hour
    if first >= last:
        first = last = end
    return f"""end_time > {start} AND end_time <= {end} AND (
        (tier = 2 AND end_time > {first})
        OR (tier = 1 AND rolled = 0)
        OR (tier = 1 AND rolled = 1 AND (end_time <= {first} OR end_time > {last})))"""


def flatten(path: str, condition: str, flat: str) -> int:
    count = 0
    source, target = sqlite3.connect(path), sqlite3.connect(flat)
    target.execute("CREATE TABLE point (end_time INTEGER NOT NULL, series INTEGER NOT NULL, entry BLOB NOT NULL)")
    for end, points in source.execute(f"SELECT end_time, points FROM version_chunk WHERE {condition} ORDER BY end_time"):
        rows = list(entries(points))
        target.executemany("INSERT INTO point VALUES (?, ?, ?)", ((end, series, entry) for series, entry in rows))
        count += len(rows)
    target.execute("CREATE INDEX point_by_end ON point (end_time)")
    target.execute("CREATE TABLE series (id INTEGER PRIMARY KEY, service TEXT, kind TEXT, method TEXT, host TEXT, endpoint TEXT)")
    target.executemany(
        "INSERT INTO series VALUES (?, ?, ?, ?, ?, ?)",
        source.execute("SELECT id, service, kind, method, host, endpoint FROM series"))
    target.commit()
    return count


def entries(points: bytes):
    position = series = 0
    while position < len(points):
        difference, position = varint(points, position)
        length, position = varint(points, position)
        series += difference
        yield series, points[position : position + length]
        position += length


def varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7


def report(name: str, path: str, query: str, unit: str = "bytes") -> None:
    times = []
    for _ in range(5):
        before = time.perf_counter(), cpu()
        answer = subprocess.run(["sqlite3", path, query], check=True, capture_output=True, text=True).stdout.strip()
        times.append((cpu() - before[1], time.perf_counter() - before[0]))
    cpu_time, wall = sorted(times)[2]
    print(f"  {name}: {wall * 1000:.0f} ms, {cpu_time * 1000:.0f} ms of CPU ({answer if answer.isdigit() else answer.count(chr(10)) + 1} {unit})")


def cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


main()
