"""Fills a collector with two hours of a small shop whose figures are known: shop_world.py ADDRESS

Three services call each other, with two instances each. 49 minutes ago payments 1.9.0 was deployed: its payments are slower and
fail more often. Prints the number of requests.
"""

import concurrent.futures
import json
import math
import random
import sys
import time
import urllib.request

ADDRESS, NOW = sys.argv[1], time.time()
DEPLOYMENT = NOW - 49 * 60
VERSIONS = {"storefront": "2.4.1", "catalog": "3.2.0", "payments": "1.8.3"}
SCALE = 7

# caller, callee, method, host, port, endpoint, requests per minute, median in seconds, spread, share of failures
CALLS = [
    ("storefront", "payments", "POST", "payments.internal", 8443, "/payments", 46, 0.070, 0.45, 0.030),
    ("storefront", "payments", "GET", "payments.internal", 8443, "/payments/{id}", 23, 0.033, 0.40, 0.030),
    ("storefront", "catalog", "GET", "catalog.internal", 8080, "/products", 70, 0.023, 0.60, 0.007),
    ("storefront", "catalog", "GET", "catalog.internal", 8080, "/products/{id}", 140, 0.011, 0.42, 0.018),
    ("payments", None, "POST", "acquirer.example", 443, "/charges", 46, 0.060, 0.45, 0.025),
    ("payments", None, "GET", "acquirer.example", 443, "/keys", 0.4, 0.045, 0.30, 0.030),
]

chance = random.Random(7)
# A store on ClickHouse answers at most once a second, and then all waiting senders at once.
posts, pool = [], concurrent.futures.ThreadPoolExecutor(64)


def attributes(values):
    def value(content):
        if isinstance(content, bool):
            return {"boolValue": content}
        if isinstance(content, int):
            return {"intValue": str(content)}
        if isinstance(content, float):
            return {"doubleValue": content}
        if isinstance(content, list):
            return {"arrayValue": {"values": [value(one) for one in content]}}
        return {"stringValue": content}

    return [{"key": name, "value": value(content)} for name, content in values.items()]


def post(signal, body):
    request = urllib.request.Request(
        f"{ADDRESS}/v1/{signal}", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    posts.append(pool.submit(lambda: urllib.request.urlopen(request).read()))


def hexadecimal(digits):
    return f"{chance.getrandbits(4 * digits):0{digits}x}"


def histogram(seconds, window, dimensions):
    buckets = {}
    for value in seconds:
        index = math.ceil(math.log2(value) * 2**SCALE) - 1
        buckets[index] = buckets.get(index, 0) + 1
    first, last = min(buckets), max(buckets)
    return {
        "attributes": attributes(dimensions), "startTimeUnixNano": str(window[0]), "timeUnixNano": str(window[1]),
        "count": str(len(seconds)), "sum": sum(seconds), "min": min(seconds), "max": max(seconds),
        "scale": SCALE, "zeroCount": "0", "negative": {},
        "positive": {"offset": first, "bucketCounts": [str(buckets.get(i, 0)) for i in range(first, last + 1)]},
    }


def answer(method, endpoint, median, spread, share, is_slow):
    """Returns a duration, a status and an error."""
    if is_slow and method == "POST":
        median, share = median * 1.3 * (9 if chance.random() < 0.09 else 1), share * 2.6
    seconds = median * math.exp(chance.gauss(0, spread))
    if chance.random() >= share:
        return seconds, 201 if method == "POST" else 200, None
    kind = chance.random()
    if kind < 0.1:
        return 2 + chance.random() / 100, None, "timeout"
    if kind < 0.16 and is_slow:
        return 0.003, None, "connection_refused"
    status = chance.choice([503, 503, 402, 422])
    return seconds, status, str(status)


class Instance:
    def __init__(self, service, version, number):
        self.captured, self.start = 0, None
        self.resource = {
            "attributes": attributes({
                "service.name": service, "service.version": version, "service.instance.id": f"{service}-{number}-{version}",
                "deployment.environment.name": "production", "host.name": f"host-{number}",
                "telemetry.sdk.name": "martlet", "telemetry.sdk.language": "swift", "telemetry.sdk.version": "0.1.0",
                "martlet.capture.mode": "automatic", "process.runtime.name": "swift", "process.runtime.version": "6.3",
            })
        }
        self.series, self.spans = {}, []

    def count(self, kind, dimensions, seconds):
        self.series.setdefault((kind, json.dumps(dimensions)), []).append(seconds)

    def send(self, window):
        self.start = self.start or window[0]
        metrics = {}
        for (kind, dimensions), seconds in self.series.items():
            point = histogram(seconds, window, json.loads(dimensions))
            metrics.setdefault(f"http.{kind}.request.duration", []).append(point)
            for phase, share in (("queue", 0.004), ("first_byte", 0.95), ("transfer", 0.03)) if kind == "client" else ():
                point = histogram([s * share for s in seconds], window, {**json.loads(dimensions), "martlet.phase": phase})
                metrics.setdefault("martlet.client.phase.duration", []).append(point)
            self.captured += len(seconds)
        ledger = [
            {
                "attributes": attributes({"martlet.state": state}), "startTimeUnixNano": str(self.start),
                "timeUnixNano": str(window[1]), "asInt": str(count),
            }
            for state, count in (("captured", self.captured), ("delivered", self.captured), ("waiting", 0))
        ]
        all_metrics = [
            {"name": name, "unit": "s", "exponentialHistogram": {"aggregationTemporality": 1, "dataPoints": points}}
            for name, points in metrics.items()
        ] + self.process(window) + [{"name": "martlet.agent.requests", "sum": {"aggregationTemporality": 2, "dataPoints": ledger}}]
        scope = {"scope": {"name": "martlet"}}
        post("metrics", {"resourceMetrics": [{"resource": self.resource, "scopeMetrics": [{**scope, "metrics": all_metrics}]}]})
        if self.spans:
            post("traces", {"resourceSpans": [{"resource": self.resource, "scopeSpans": [{**scope, "spans": self.spans}]}]})
        self.series, self.spans = {}, []


    def process(self, window):
        """Returns the metrics of the process. Its memory grows by 0.2 MiB a minute."""
        minutes = (window[1] - self.start) / 60e9
        delta = {"startTimeUnixNano": str(window[0]), "timeUnixNano": str(window[1])}
        cpu = {"user": 4 + 2 * chance.random(), "system": 1 + chance.random()}
        levels = {
            "process.memory.usage": (70 + 6 * chance.random() + 0.2 * minutes) * 2**20, "process.thread.count": 14,
            "process.unix.file_descriptor.count": 60 + chance.randrange(9),
        }
        delays = {"pool": 0.0004, "main_queue": 0.002}
        return [
            {"name": "process.cpu.time", "unit": "s", "sum": {
                "aggregationTemporality": 1, "isMonotonic": True, "dataPoints": [
                    {**delta, "attributes": attributes({"cpu.mode": mode}), "asDouble": seconds} for mode, seconds in cpu.items()
                ]}},
            {"name": "process.uptime", "unit": "s", "gauge": {"dataPoints": [
                {"timeUnixNano": str(window[1]), "asDouble": minutes * 60}]}},
        ] + [
            {"name": name, "sum": {"aggregationTemporality": 2, "dataPoints": [
                {"timeUnixNano": str(window[1]), "asInt": str(int(value))}]}}
            for name, value in levels.items()
        ] + [
            {"name": f"martlet.process.{name}.delay", "unit": "s", "histogram": {"aggregationTemporality": 1, "dataPoints": [
                {**delta, "count": "60", "sum": 60 * seconds, "max": seconds * math.exp(chance.gauss(2, 0.8))}]}}
            for name, seconds in delays.items()
        ]


instances = {}


def instance(service, number, end):
    version = "1.9.0" if service == "payments" and end > DEPLOYMENT else VERSIONS[service]
    return instances.setdefault((service, version, number), Instance(service, version, number))


def span(kind, name, start, seconds, values, trace, parent=None, error=None):
    one = {
        "traceId": trace, "spanId": hexadecimal(16), "name": name, "kind": kind, "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + int(seconds * 1e9)), "attributes": attributes(values),
        "status": {"code": 2, "message": "The request timed out." if error == "timeout" else ""} if error else {},
    }
    if parent:
        one["parentSpanId"] = parent
    return one


def keep(caller, callee, call, window, seconds, dimensions, served, error):
    """Keeps the details of a request and, if it arrived, those of its server."""
    _, _, method, host, port, endpoint, *_ = call
    start = window[0] + int(chance.random() * 50e9)
    path = endpoint.replace("{id}", str(chance.randint(1, 9999)))
    values = {
        **dimensions, "url.full": f"https://{host}:{port}{path}", "martlet.counted": True,
        "http.request.header.authorization": ["[redacted]"], "http.response.header.content-type": ["application/json"],
        "http.response.body.size": chance.randint(100, 9000), "martlet.phase.queue": 0.0003,
    }
    if method == "POST":
        values["martlet.request.body"] = '{"amount":1299,"card":"[redacted]"}'
    if not error or error.isdigit():
        values |= {"martlet.phase.first_byte": seconds * 0.95, "martlet.phase.transfer": seconds * 0.03}
    trace = hexadecimal(32)
    client = span(3, f"{method} {endpoint}", start, seconds, values, trace, error=error)
    caller.spans.append(client)
    if callee and served:
        server = span(2, f"{method} {endpoint}", start + int(seconds * 3e7), seconds * 0.9, {**served, "martlet.counted": True}, trace, client["spanId"])
        callee.spans += [server, span(1, "SELECT", start + int(seconds * 1e8), seconds * 0.3, {"db.system": "postgresql"}, trace, server["spanId"])]


def minute(end):
    window = (int((end - 60) * 1e9), int(end * 1e9))
    made = 0
    for call in CALLS:
        service, called, method, host, port, endpoint, count, median, spread, share = call
        for number in (1, 2):
            caller = instance(service, number, end)
            callee = instance(called, number, end) if called else None
            for _ in range(max(0, round(chance.gauss(count / 2, math.sqrt(count) / 2)))):
                seconds, status, error = answer(method, endpoint, median, spread, share, end > DEPLOYMENT)
                place = {"http.request.method": method, "server.address": host, "server.port": port}
                outcome = ({"http.response.status_code": status} if status else {}) | ({"error.type": error} if error else {})
                caller.count("client", {**place, "url.template": endpoint, **outcome}, seconds)
                made += 1
                served = None
                if callee and error != "connection_refused":
                    served = {**place, "http.route": endpoint, "http.response.status_code": status or 200}
                    if (status or 200) >= 500:
                        served["error.type"] = error
                    callee.count("server", served, seconds * 0.9)
                if error or seconds > 1 or chance.random() < 0.06:
                    keep(caller, callee, call, window, seconds, {**place, "url.template": endpoint, **outcome}, served, error)
    for one in instances.values():
        if one.series:
            one.send(window)
    return made


made = sum(minute(NOW - 60 * ago) for ago in range(120, -1, -1))
for one in posts:
    one.result()
print(made)
