"""Three services that measure made-up requests with the OpenTelemetry SDK for Python, and print their measurements.

Two of them send metrics and spans, and one sends only spans. The SDK's own variables (OTEL_EXPORTER_OTLP_METRICS_...) choose
the temporality and the kind of histogram. First argument: `export` sends with the SDK's exporters, `forward` sends everything in
one request for each signal, as an OpenTelemetry Collector does, and `json` does so as JSON. Second argument: the number of
rounds. The program waits for SIGUSR1 between two rounds.
"""

import base64
import gzip
import json
import os
import random
import signal
import sys
import time
import urllib.request

from google.protobuf.json_format import MessageToDict
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.metrics import Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

COLLECTOR = os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"]
BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
ROUTES = [("/orders/{id}", 200), ("/orders/{id}", 500), ("/orders", 201)]


class Service:
    """A service's telemetry, and a count of its measurements by kind, endpoint and status."""

    def __init__(self, name, seed, forwards, measures):
        self.name, self.random, self.account = name, random.Random(seed), {}
        resource = Resource.create({"service.name": name})
        self.spans = InMemorySpanExporter() if forwards else OTLPSpanExporter()
        self.tracing = TracerProvider(resource=resource)
        self.tracing.add_span_processor(BatchSpanProcessor(self.spans))
        self.tracer = self.tracing.get_tracer("made up")
        self.metrics, self.reader = None, None
        if not measures:
            return
        # The exporter reads the variables for temporality and histograms, even if it sends nothing itself.
        exporter = OTLPMetricExporter()
        self.reader = (
            InMemoryMetricReader(exporter._preferred_temporality, exporter._preferred_aggregation)
            if forwards
            else PeriodicExportingMetricReader(exporter, export_interval_millis=3_600_000)
        )
        self.metrics = MeterProvider([self.reader], resource=resource)
        server, client = self.metrics.get_meter("made up servers", "1"), self.metrics.get_meter("made up clients")
        histogram = {"unit": "s", "explicit_bucket_boundaries_advisory": BOUNDS}
        self.durations = {
            "server": server.create_histogram("http.server.request.duration", **histogram),
            "client": client.create_histogram("http.client.request.duration", **histogram),
        }
        self.size = server.create_histogram("http.server.response.body.size", unit="By")
        self.others = server.create_counter("orders"), server.create_up_down_counter("http.server.active_requests")
        self.rounds = 0
        self.observe_process(self.metrics.get_meter("made up process"))

    def observe_process(self, meter):
        """Makes the metrics of OpenTelemetry's instrumentation for Python ("system metrics"), with made-up values."""

        def of(**values):
            return lambda _: [Observation(value * self.rounds, {"type": name}) for name, value in values.items()]

        meter.create_observable_counter("process.cpu.time", [of(user=2.0, system=0.5)], unit="s")
        meter.create_observable_counter("process.context_switches", [of(voluntary=30, involuntary=4)], unit="switches")
        meter.create_observable_up_down_counter("process.memory.usage", [lambda _: [Observation(84 << 20)]], unit="By")
        meter.create_observable_up_down_counter("process.thread.count", [lambda _: [Observation(7)]])
        meter.create_observable_up_down_counter("process.open_file_descriptor.count", [lambda _: [Observation(42)]])
        meter.create_observable_gauge("process.cpu.utilization", [lambda _: [Observation(0.5)]])

    def measure(self, kind, endpoint, status):
        seconds, size = min(9.5, self.random.lognormvariate(-2.5, 1.2)), self.random.randrange(5000)
        attributes = {
            "http.request.method": "GET",
            "http.response.status_code": status,
            "server.address": "shop.example",
            "server.port": 443,
            "network.protocol.version": self.random.choice(["1.1", "2"]),
            "http.route" if kind == "server" else "url.template": endpoint,
        }
        end = time.time_ns()
        span = self.tracer.start_span(
            f"GET {endpoint}",
            kind=trace.SpanKind.SERVER if kind == "server" else trace.SpanKind.CLIENT,
            start_time=end - int(seconds * 1e9),
            attributes=attributes | ({"http.response.body.size": size} if kind == "server" else {}),
        )
        span.end(end)
        if self.metrics:
            self.durations[kind].record(seconds, attributes)
            if kind == "server":
                self.size.record(size, attributes)
            for other in self.others:
                other.add(1)
        account = self.account.setdefault((kind, endpoint, status), {"seconds": [], "bytes": 0})
        account["seconds"].append(seconds)
        account["bytes"] += size if kind == "server" else 0

    def round(self, requests):
        if self.metrics:
            self.rounds += 1
        for number in range(requests):
            endpoint, status = ROUTES[number % len(ROUTES)]
            self.measure("server", endpoint, status)
            self.measure("client", endpoint, status)
        self.tracer.start_span("no request").end()
        self.tracing.force_flush()


def with_hex_ids(value):
    """Returns protobuf's JSON with ids in hex, as in OTLP's JSON, instead of base64."""
    if isinstance(value, list):
        return [with_hex_ids(element) for element in value]
    if not isinstance(value, dict):
        return value
    return {
        name: base64.b64decode(inner).hex() if name in ("traceId", "spanId", "parentSpanId") else with_hex_ids(inner)
        for name, inner in value.items()
    }


def encoded(message):
    if way != "json":
        return message.SerializeToString(), "application/x-protobuf"
    return json.dumps(with_hex_ids(MessageToDict(message, use_integers_for_enums=True))).encode(), "application/json"


def post(path, message):
    body, content_type = encoded(message)
    request = urllib.request.Request(COLLECTOR + path, gzip.compress(body), method="POST")
    request.add_header("Content-Type", content_type)
    request.add_header("Content-Encoding", "gzip")
    with urllib.request.urlopen(request) as answer:
        assert answer.status == 200 and answer.read() in (b"", b"{}"), "not all of it was taken"


def forward(services):
    """Sends the telemetry of all services in one request for each signal."""
    requests = [encode_metrics(service.reader.get_metrics_data()) for service in services if service.reader]
    for other in requests[1:]:
        requests[0].resource_metrics.extend(other.resource_metrics)
    post("/v1/metrics", requests[0])
    post("/v1/traces", encode_spans([span for service in services for span in service.spans.get_finished_spans()]))
    for service in services:
        service.spans.clear()


way, rounds = sys.argv[1], int(sys.argv[2])
# sigwait requires the signal to be blocked.
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
services = [
    Service("measured", 1, way != "export", True),
    Service("traced", 2, way != "export", False),
    Service("also measured", 3, way != "export", True),
]
for number in range(rounds):
    if number > 0:
        print("waiting", flush=True)
        signal.sigwait({signal.SIGUSR1})
    for service in services:
        service.round(300)
    if way != "export":
        forward(services)
    else:
        for service in services:
            if service.metrics:
                service.metrics.force_flush()
print(
    json.dumps(
        [
            {"service": service.name, "kind": kind, "endpoint": endpoint, "status": status, **account}
            for service in services
            for (kind, endpoint, status), account in service.account.items()
        ]
    ),
    flush=True,
)
os._exit(0)
