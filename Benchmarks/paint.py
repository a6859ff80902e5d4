#!/usr/bin/env python3
"""Measures the page in headless Chromium: the time to the first contentful paint of its views, next to the same bytes from a server
of static files, and the collector's CPU time for each.

usage: paint.py COLLECTOR STORE NOW [TIMES]

COLLECTOR is the program. STORE is a store that may be changed, such as a copy: the collector maintains it. NOW is the end of the
views' windows, in seconds since 1970. Needs Debian's chromium and chromium-driver.
"""
import datetime
import http.server
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import urllib.parse
import urllib.request

HOUR = 3600
# Each view with the length of its window. A view with an end in its address does not ask again by itself.
VIEWS = [
    ("overview, 1 h", "/?compare=off", HOUR),
    ("overview, 1 h, compared", "/?", HOUR),
    ("endpoint, 30 d", "/endpoint?service={service}&endpoint={endpoint}", 30 * 24 * HOUR),
    ("requests, 24 h", "/requests?", 24 * HOUR),
]
FIRST_PAINT = """
const done = arguments[arguments.length - 1];
new PerformanceObserver((list) => {
  const paint = list.getEntries().find((entry) => entry.name === "first-contentful-paint");
  if (paint) done(paint.startTime);
}).observe({ type: "paint", buffered: true });
"""


def main() -> None:
    program, store, now, *times = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder, Collector(program, store, folder) as collector:
        copies = Copies()
        browser = Browser(folder)
        try:
            print(f"{'view':28}{'bytes':>10}{'CPU ms':>9}{'paint ms':>10}{'static ms':>11}{'ratio':>7}")
            for name, path, length in VIEWS:
                path = collector.path(path, int(now), length)
                measure(name, path, int(times[0]) if times else 15, collector, copies, browser)
        finally:
            browser.close()
            copies.close()


def measure(name, path, times, collector, copies, browser) -> None:
    size = copies.take(collector.address, path)
    costs, paints, static = [], [], []
    for _ in range(times + 1):
        before = collector.cpu()
        paints.append(browser.first_paint(collector.address + path))
        costs.append(collector.cpu() - before)
        static.append(browser.first_paint(copies.address + path))
    # The first visit of each has to load the style sheet and the script.
    cost, paint, plain = (statistics.median(values[1:]) for values in (costs, paints, static))
    print(f"{name:28}{size:>10}{cost * 1000:>9.0f}{paint:>10.0f}{plain:>11.0f}{paint / plain:>7.2f}", flush=True)


class Collector:
    def __init__(self, program, store, folder):
        self.output = os.path.join(folder, "address")
        with open(self.output, "w") as output:
            self.process = subprocess.Popen(
                [program, "serve", "--port", "0", "--store", f"sqlite:{store}"], stdout=output, stderr=output)
        self.address = None

    def __enter__(self):
        while not self.address:
            assert self.process.poll() is None, open(self.output).read()
            found = re.search(r"http://127\.0\.0\.1:\d+", open(self.output).read())
            self.address = found and found.group()
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def path(self, template, now, length):
        """Returns the path of a view of the first service, in a window."""
        window = {"since": moment(now - length), "until": moment(now)}
        rows = self.get("/api/v1/report?" + urllib.parse.urlencode({**window, "by": "service", "top": 1}))["rows"]
        of_service = {**window, "service": rows[0]["service"], "by": "endpoint", "top": 1}
        endpoint = self.get("/api/v1/report?" + urllib.parse.urlencode(of_service))["rows"][0]["endpoint"]
        names = {"service": rows[0]["service"], "endpoint": endpoint}
        path = template.format(**{key: urllib.parse.quote(value, safe="") for key, value in names.items()})
        return path + ("" if path.endswith("?") else "&") + urllib.parse.urlencode(window)

    def get(self, path):
        return json.load(urllib.request.urlopen(self.address + path))

    def cpu(self):
        """Returns the CPU time of all threads in seconds, which is finer here than in /proc/PID/stat."""
        threads = f"/proc/{self.process.pid}/task"
        return sum(int(open(f"{threads}/{thread}/schedstat").read().split()[0]) for thread in os.listdir(threads)) / 1e9


def moment(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Copies:
    """Serves copies of answers at the same paths."""

    def __init__(self):
        answers = self.answers = {}

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                headers, body = answers.get(self.path, ([], b""))
                self.send_response(200 if body else 404)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, address, path):
        """Takes a page and the files that it needs. Returns the page's bytes."""
        page = self.take_one(address, path)
        for needed in re.findall(r'(?:src|href)="(/martlet\.[^"]*|/mark\.svg[^"]*)"', page.decode()):
            self.take_one(address, needed.replace("&amp;", "&"))
        return len(page)

    def take_one(self, address, path):
        with urllib.request.urlopen(address + path) as answer:
            kept = ("content-type", "cache-control", "content-security-policy")
            headers = [(name, value) for name, value in answer.getheaders() if name.lower() in kept]
            self.answers[path] = (headers, answer.read())
        return self.answers[path][1]

    def close(self):
        self.server.shutdown()


class Browser:
    def __init__(self, folder):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        for line in self.driver.stdout:
            if found := re.search(r"successfully on port (\d+)", line):
                self.address = f"http://127.0.0.1:{found.group(1)}/session"
                break
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile"]
        options = {"binary": "/usr/bin/chromium", "args": arguments}
        session = self.post("", {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}})
        self.address += "/" + session["sessionId"]

    def post(self, command, value):
        request = urllib.request.Request(
            self.address + command, json.dumps(value).encode(), {"Content-Type": "application/json"})
        return json.load(urllib.request.urlopen(request))["value"]

    def first_paint(self, address):
        """Returns the milliseconds from the beginning of the navigation."""
        self.post("/url", {"url": address})
        return self.post("/execute/async", {"script": FIRST_PAINT, "args": []})

    def close(self):
        urllib.request.urlopen(urllib.request.Request(self.address, method="DELETE"))
        self.driver.terminate()
        self.driver.wait()


main()
