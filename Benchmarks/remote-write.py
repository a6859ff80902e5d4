#!/usr/bin/env python3
"""Makes the points of `StoreBenchmark bodies` in Prometheus' form: cumulative native histograms for remote write.

usage: remote-write.py FOLDER POINTS INTERVALS

Writes the files 0.snappy, 1.snappy, …: one of each of eight senders for each interval of 10 s, in order of time. Its messages are
defined at https://buf.build/prometheus/prometheus (prompb: WriteRequest, TimeSeries, Histogram). Needs cramjam from PyPI.
"""
import os
import struct
import sys
import time

import cramjam

SENDERS = 8
SCALE = 7
# The bucket of 20 ms; 39 more follow above it.
FIRST_BUCKET = -723
COUNTS = [1 + step % 3 for step in range(40)]


def main() -> None:
    folder, points, intervals = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    os.makedirs(folder, exist_ok=True)
    start = int(time.time()) // 60 * 60 - 10 * intervals
    labels = [[labels_of(sender, point) for point in range(points)] for sender in range(SENDERS)]
    for interval in range(intervals):
        histogram = field(4, histogram_of(interval + 1, (start + 10 * (interval + 1)) * 1000))
        for sender in range(SENDERS):
            body = b"".join(field(1, series + histogram) for series in labels[sender])
            with open(os.path.join(folder, f"{interval * SENDERS + sender}.snappy"), "wb") as file:
                file.write(bytes(cramjam.snappy.compress_raw(body)))


def labels_of(sender: int, point: int) -> bytes:
    """Returns the labels in the order of their names, which the receiver requires."""
    labels = {
        "__name__": "http_client_request_duration_seconds",
        "http_request_method": "GET",
        "http_response_status_code": "200",
        "instance": f"instance-{sender}",
        "job": f"service-{sender}",
        "server_address": "api.example.com",
        "server_port": "443",
        "url_template": f"/resources/{point}/{{id}}",
    }
    return b"".join(field(1, field(1, name.encode()) + field(2, value.encode())) for name, value in labels.items())


def histogram_of(intervals: int, milliseconds: int) -> bytes:
    counts = [intervals * count for count in COUNTS]
    deltas = [count - before for count, before in zip(counts, [0] + counts)]
    total = sum(counts)
    # Prometheus counts a bucket by its upper bound, OpenTelemetry by its lower one.
    span = number(1, zigzag(FIRST_BUCKET + 1)) + number(2, len(counts))
    return (
        number(1, total)
        + bytes([3 << 3 | 1])
        + struct.pack("<d", 0.025 * total)
        + number(4, zigzag(SCALE))
        + field(11, span)
        + field(12, b"".join(varint(zigzag(delta)) for delta in deltas))
        + number(15, milliseconds)
    )


def field(identifier: int, content: bytes) -> bytes:
    return varint(identifier << 3 | 2) + varint(len(content)) + content


def number(identifier: int, value: int) -> bytes:
    return varint(identifier << 3) + varint(value)


def zigzag(value: int) -> int:
    return value << 1 if value >= 0 else (-value << 1) - 1


def varint(value: int) -> bytes:
    result = bytearray()
    while value >= 0x80:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    result.append(value)
    return bytes(result)


main()
