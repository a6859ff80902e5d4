"""Overloads a collector over a given number of connections, and requests its health and a report meanwhile.

usage: overload.py ADDRESS PID CONNECTIONS SECONDS

Each body is a separate batch with POINTS points of one request each, and none is sent twice. So the collector must report
exactly POINTS requests for each body that it acknowledged. Prints the numbers of answers, and exits with 1 if a check fails.
"""

import asyncio
import collections
import gzip
import json
import os
import sys
import time
import urllib.parse
import urllib.request

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

POINTS = 1000
INTERVAL = 10 * 10**9


def body() -> bytes:
    request = ExportMetricsServiceRequest()
    resource = request.resource_metrics.add()
    resource.resource.attributes.add(key="service.name").value.string_value = "overload"
    metric = resource.scope_metrics.add().metrics.add(name="http.client.request.duration", unit="s")
    metric.exponential_histogram.aggregation_temporality = 1
    end = time.time_ns() // INTERVAL * INTERVAL
    for endpoint in range(POINTS):
        point = metric.exponential_histogram.data_points.add(
            start_time_unix_nano=end - INTERVAL, time_unix_nano=end, count=1, sum=0.1, scale=7
        )
        point.positive.offset = -426
        point.positive.bucket_counts.append(1)
        for name, value in ("http.request.method", "GET"), ("server.address", "a"), ("url.template", f"/{endpoint}"):
            point.attributes.add(key=name).value.string_value = value
        point.attributes.add(key="http.response.status_code").value.int_value = 200
    return gzip.compress(request.SerializeToString())


class Load:
    def __init__(self, address: str, seconds: float):
        self.url = urllib.parse.urlsplit(address)
        self.body = body()
        self.end = time.monotonic() + seconds
        self.answers = collections.Counter()

    async def post(self, connection: int) -> None:
        """Posts batches, one after the other, until the time is over."""
        sequence, streams = 0, None
        while time.monotonic() < self.end:
            try:
                streams = streams or await asyncio.open_connection(self.url.hostname, self.url.port)
                sequence += 1
                head = (
                    f"POST /v1/metrics HTTP/1.1\r\nHost: test\r\nContent-Type: application/x-protobuf\r\n"
                    f"Content-Encoding: gzip\r\nMartlet-Batch: overload-{connection}/{sequence}/metrics\r\n"
                    f"Content-Length: {len(self.body)}\r\n\r\n"
                )
                streams[1].write(head.encode() + self.body)
                self.answers[(await answer(streams[0]))[0]] += 1
            except (OSError, EOFError) as error:
                self.answers[type(error).__name__] += 1
                streams = None
        if streams:
            streams[1].close()

    async def get(self, path: str) -> tuple[int, bytes]:
        reader, writer = await asyncio.open_connection(self.url.hostname, self.url.port)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n".encode())
        try:
            return await answer(reader)
        finally:
            writer.close()


async def answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
    return int(head[9:12]), await reader.readexactly(length)


def status(url: str) -> int | str:
    try:
        return urllib.request.urlopen(url, timeout=30).status
    except OSError as error:
        return str(error)


def memory(pid: str, field: str) -> float:
    """Returns a field of /proc/PID/status (proc(5)) in MiB."""
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith(field))


async def watch(load: Load, pid: str) -> dict:
    """Requests the collector's health and a report every second. Returns the answers, longest waits and peaks of memory."""
    health, waits, peaks = collections.Counter(), collections.Counter(), []
    while time.monotonic() < load.end:
        for path in "/healthz", "/api/v1/report":
            before = time.monotonic()
            # On a separate thread, the request does not wait behind the load.
            health[path, await asyncio.to_thread(status, load.url.geturl() + path)] += 1
            waits[path] = max(waits[path], time.monotonic() - before)
        peaks.append(memory(pid, "VmHWM"))
        await asyncio.sleep(1)
    return {"health": health, "waits": waits, "peaks": peaks}


async def main() -> int:
    address, pid, connections, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    load = Load(address, seconds)
    before = memory(pid, "VmRSS")
    watching = asyncio.create_task(watch(load, pid))
    await asyncio.gather(*(load.post(connection) for connection in range(connections)))
    seen = await watching
    report = json.loads((await load.get("/api/v1/report?since=1h"))[1])

    acknowledged, sent = load.answers[200], sum(load.answers.values())
    stored = report["totals"]["count"]
    print(f"{sent} batches of {POINTS} points over {connections} connections in {seconds:.0f} s: {dict(load.answers)}")
    print(f"reported: {stored} requests, of {acknowledged} acknowledged batches {acknowledged * POINTS}")
    waits = ", ".join(f"{path} {wait:.1f} s" for path, wait in seen["waits"].items())
    print(f"meanwhile: {dict(seen['health'])}, the longest waits: {waits}")
    half, peak = seen["peaks"][len(seen["peaks"]) // 2], seen["peaks"][-1]
    print(f"memory: {before:.0f} MiB before, at most {half:.0f} MiB in the first half, {peak:.0f} MiB in all")
    faults = {
        "the store lacks a batch that was acknowledged, or has one that was not": stored != acknowledged * POINTS,
        "an answer had another status than 200, 429 and 503": set(load.answers) - {200, 429, 503},
        "fewer than three batches were sent for each one that was acknowledged": sent < 3 * acknowledged,
        "/healthz or /api/v1/report did not always answer 200": {answer for _, answer in seen["health"]} != {200},
        "the peak of memory grew by more than 10 % in the second half": peak > half * 1.1,
    }
    for fault in (text for text, holds in faults.items() if holds):
        print(fault, file=sys.stderr)
    return 1 if any(faults.values()) else 0


sys.exit(asyncio.run(main()))
