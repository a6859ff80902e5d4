#!/usr/bin/env python3
"""Posts each file N.gz or N.snappy of a folder once. Eight senders each post their files in order over a separate connection.
Prints the number of accepted files, the number of refused files, and the seconds taken.

usage: post.py ADDRESS PATH FOLDER
"""
import asyncio
import os
import sys
import time
import urllib.parse

SENDERS = 8
HEADERS = {
    ".gz": "Content-Encoding: gzip\r\n",
    ".snappy": "Content-Encoding: snappy\r\nX-Prometheus-Remote-Write-Version: 0.1.0\r\n",
}


async def main() -> None:
    url, path, folder = urllib.parse.urlsplit(sys.argv[1]), sys.argv[2], sys.argv[3]
    names = sorted(os.listdir(folder), key=lambda name: int(name.split(".")[0]))
    requests = [request(path, os.path.join(folder, name)) for name in names]
    start = time.perf_counter()
    statuses = await asyncio.gather(
        *(post(requests[sender::SENDERS], url.hostname, url.port) for sender in range(SENDERS))
    )
    seconds = time.perf_counter() - start
    taken = sum(status < 300 for one in statuses for status in one)
    print(taken, len(requests) - taken, f"{seconds:.3f}")


def request(path: str, file: str) -> bytes:
    with open(file, "rb") as opened:
        body = opened.read()
    name, kind = os.path.splitext(os.path.basename(file))
    # Agents number their batches.
    sender, sequence = int(name) % SENDERS, int(name) // SENDERS + 1
    number = f"Martlet-Batch: sender-{sender}/{sequence}/metrics\r\n" if kind == ".gz" else ""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-protobuf\r\n"
        f"{HEADERS[kind]}{number}Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def post(requests: list[bytes], host: str, port: int) -> list[int]:
    reader, writer = await asyncio.open_connection(host, port)
    statuses = []
    for one in requests:
        writer.write(one)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        if b"content-length:" in head:
            await reader.readexactly(int(head.split(b"content-length:")[1].split(b"\r\n")[0]))
        statuses.append(int(head[9:12]))
    writer.close()
    return statuses


asyncio.run(main())
