"""A service that answers requests with a PostgreSQL, psycopg and OpenTelemetry's instrumentation of psycopg.

The program starts a PostgreSQL with pg_stat_statements. At its end it prints as JSON what PostgreSQL counted of the service's
statements, and which ones failed. OTEL_SEMCONV_STABILITY_OPT_IN chooses the names of the attributes. First argument: `spans` sends
only spans, `metrics` also the instrumentation's metrics, which need the opt-in `database`. Second argument: a folder.
"""

import collections
import contextlib
import glob
import json
import os
import shutil
import signal
import socket
import subprocess
import sys

import psycopg
from opentelemetry import metrics, trace
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.psycopg import PsycopgInstrumentor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

# Literals in each form that PostgreSQL has, and comments. {0} is another value in each execution.
LITERALS = [
    "select {0}",
    "select {0}.25e1, .{0}",
    "select 'it''s {0}'",
    "select E'it\\'s {0}'",
    "select U&'{0}\\0061'",
    "select $${0} it's$$",
    "select $tag${0} $$ it's$tag$",
    "select B'1{0:b}', X'1{0:x}'",
    "select '{0}'::int, date '2026-11-{0}'",
    "select 'several\n{0}\nlines'",
    "select array[{0}, 2, 3]",
    "/* order {0} */ select count(*) from orders -- customer {0}",
    "select /* outer /* {0} */ 'inner' */ customer from orders limit {0}",
    'select customer as "it\'s" from orders where cents = {0}',
    "\n    with dear as (select * from orders where cents > {0})\n    select count(*) from dear",
    "update orders set cents = {0} where customer = 'hunter2'",
    "delete from orders where customer = 'hunter{0}'",
]

# Statements that psycopg sends without a span: those of its transactions, COPY, and a cursor that streams.
WITHOUT_SPAN = {"BEGIN", "COMMIT", "copy stock from stdin", "select item from stock"}

# PostgreSQL counts each row of `executemany`, which is one span.
BATCH = "insert into stock values (%s, %s)"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.contextmanager
def postgresql(folder):
    """Runs a PostgreSQL in a new folder, and gives its port."""
    *_, programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4].split(".")[0]))
    data, port = f"{folder}/data", free_port()
    os.mkdir(folder)
    # PostgreSQL refuses to run as root. It ends with this process, however this process ends.
    user = ["setpriv", "--pdeathsig", "INT"]
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
        user += ["--reuid", "postgres", "--regid", "postgres", "--clear-groups"]
    # The log has the line that says when the server is ready, and no errors of statements.
    settings = {
        "listen_addresses": "127.0.0.1", "port": port, "unix_socket_directories": "", "fsync": "off",
        "shared_preload_libraries": "pg_stat_statements", "log_min_messages": "log",
    }
    environment = os.environ | {"LC_ALL": "C"}
    subprocess.run(
        [*user, f"{programs}/initdb", "-D", data, "-U", "owner", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"],
        check=True, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    server = subprocess.Popen(
        [*user, f"{programs}/postgres", "-D", data, *(f"--{name}={value}" for name, value in settings.items())],
        cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        log = ""
        while "ready to accept connections" not in log:
            line = server.stderr.readline()
            assert line, f"PostgreSQL did not start:\n{log}"
            log += line
        yield port
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate()


class Service:
    """The service's connection, its tracer, and its count of statements that failed."""

    def __init__(self, address):
        self.connection = psycopg.connect(f"{address} user=service", autocommit=True)
        self.tracer = trace.get_tracer("made up")
        self.failures = collections.Counter()

    def request(self, work):
        """Answers a request, within which the work is done."""
        attributes = {"http.request.method": "POST", "http.route": "/orders", "http.response.status_code": 201}
        with self.tracer.start_as_current_span("POST /orders", kind=trace.SpanKind.SERVER, attributes=attributes):
            work()

    def answer(self):
        for number in range(40):
            self.request(lambda: self.order(number))
        for _ in range(2):
            self.request(self.restock)
        for number in range(11, 14):
            for statement in LITERALS:
                self.request(lambda: self.connection.execute(statement.format(number)))
        for length in range(1, 5):
            items = ", ".join(str(item) for item in range(length))
            self.request(lambda: self.connection.execute(f"select cents from orders where id in ({items})"))
        for count, error, statement in [
            (5, psycopg.errors.UniqueViolation, "insert into orders values (1, 'hunter2', 10)"),
            (4, psycopg.errors.UndefinedTable, "select * from nowhere where customer = 'Ann'"),
            (3, psycopg.errors.DivisionByZero, "select cents / (id - id) from orders where customer <> 'hunter2'"),
        ]:
            for _ in range(count):
                self.request(lambda: self.fail(statement, error))

    def order(self, number):
        with self.connection.transaction(), self.connection.cursor() as cursor:
            # psycopg prepares a statement from its sixth execution on.
            cursor.execute("insert into orders values (%s, %s, %s)", (number, "Ann O'Hara", 1999))
            cursor.execute("select customer from orders where id = %(id)s", {"id": number})
            cursor.fetchall()

    def restock(self):
        with self.connection.cursor() as cursor:
            cursor.executemany(BATCH, [("tea", 1), ("milk", 2), ("sugar", 3)])
            with cursor.copy("copy stock from stdin") as copy:
                copy.write_row(("salt", 4))
            list(cursor.stream("select item from stock"))

    def fail(self, statement, error):
        try:
            self.connection.execute(statement)
        except error:
            self.failures[statement, error.__name__] += 1


def counted(owner):
    """Returns how often PostgreSQL executed each of the service's statements that has a span."""
    rows = owner.execute("select query, calls from pg_stat_statements where userid = 'service'::regrole").fetchall()
    calls = collections.Counter()
    for query, count in rows:
        calls[query] += count
    assert WITHOUT_SPAN <= calls.keys(), rows
    batch = next(query for query in calls if query.startswith(BATCH.partition("%")[0]))
    calls[batch] //= 3
    return {query: count for query, count in calls.items() if query not in WITHOUT_SPAN}


def main():
    resource = Resource.create({"service.name": "shop"})
    tracing = TracerProvider(resource=resource)
    tracing.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(tracing)
    if sys.argv[1] == "metrics":
        metrics.set_meter_provider(MeterProvider([PeriodicExportingMetricReader(OTLPMetricExporter())], resource=resource))
    with postgresql(sys.argv[2] + "/postgresql") as port:
        address = f"host=127.0.0.1 port={port} dbname=postgres"
        with psycopg.connect(f"{address} user=owner", autocommit=True) as owner:
            owner.execute("create extension pg_stat_statements")
            owner.execute("create table orders (id int primary key, customer text, cents int)")
            owner.execute("create table stock (item text, pieces int)")
            owner.execute("create role service login")
            owner.execute("grant all on orders, stock to service")
            # The owner's connection is made before, so its statements have no spans.
            PsycopgInstrumentor().instrument()
            service = Service(address)
            service.answer()
            service.connection.close()
            calls = counted(owner)
    tracing.shutdown()
    if sys.argv[1] == "metrics":
        metrics.get_meter_provider().shutdown()
    statements = [{"query": query, "calls": count} for query, count in calls.items()]
    statements += [{"query": query, "calls": count, "error": error} for (query, error), count in service.failures.items()]
    print(json.dumps({"host": f"127.0.0.1:{port}", "statements": statements}))


main()
