"""The last service of a chain: Python's own HTTP server, with a span of the OpenTelemetry SDK for each request.

It answers `/orders/<number>` with the id of the trace in which it was called.
"""

import signal
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

provider = TracerProvider(resource=Resource.create({"service.name": "prices"}))
provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter()))
tracer = provider.get_tracer("prices")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        caller = TraceContextTextMapPropagator().extract({k.lower(): v for k, v in self.headers.items()})
        attributes = {
            "http.request.method": "GET",
            "http.route": "/orders/{order}",
            "url.path": self.path,
            "http.response.status_code": 200,
        }
        with tracer.start_as_current_span(
            "GET /orders/{order}", context=caller, kind=trace.SpanKind.SERVER, attributes=attributes
        ) as span:
            span.add_event("priced", {"price": 7})
            answer = trace.format_trace_id(span.get_span_context().trace_id).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
# The test starts this process from a thread that blocks signals, and a process inherits the block.
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
print(f"listening on http://127.0.0.1:{server.server_address[1]}", flush=True)
try:
    server.serve_forever()
finally:
    provider.shutdown()
