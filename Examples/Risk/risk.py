"""The last service of the shop, in Python: it judges the risk of orders. The OpenTelemetry SDK sends its figures to Martlet.

Some orders are refused, and some answers take long.
"""

import random
import signal
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry import metrics, trace
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

ROUTE = "/orders/{order}/risk"

spans = TracerProvider()
spans.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(), schedule_delay_millis=1000))
tracer = spans.get_tracer("risk")
figures = MeterProvider([PeriodicExportingMetricReader(OTLPMetricExporter(), export_interval_millis=2000)])
durations = figures.get_meter("risk").create_histogram(
    "http.server.request.duration",
    unit="s",
    explicit_bucket_boundaries_advisory=[0.001 * 1.5**step for step in range(20)],
)
chance = random.Random(6)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        start = time.perf_counter()
        order = self.path.split("/")[2] if self.path.startswith("/orders/") else ""
        status = 403 if order.isdigit() and int(order) % 250 == 0 else 200
        attributes = {
            "http.request.method": "GET",
            "http.route": ROUTE,
            "http.response.status_code": status,
            "server.address": self.server.server_address[0],
            "server.port": self.server.server_address[1],
        }
        caller = TraceContextTextMapPropagator().extract({k.lower(): v for k, v in self.headers.items()})
        with tracer.start_as_current_span(
            f"GET {ROUTE}", context=caller, kind=trace.SpanKind.SERVER, attributes={**attributes, "url.path": self.path}
        ):
            with tracer.start_as_current_span("score"):
                time.sleep(chance.lognormvariate(-5.5, 0.6))
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()
        durations.record(time.perf_counter() - start, attributes)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
print(f"listening on http://127.0.0.1:{server.server_address[1]}", flush=True)
try:
    server.serve_forever()
finally:
    spans.shutdown()
    figures.shutdown()
