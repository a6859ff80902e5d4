"""The HTTP interface of ClickHouse, as far as a collector uses it, in front of chDB: the current engine in this process.

    server.py PORT FOLDER

It takes a statement, or the rows of an INSERT, with settings and a database. One statement runs at a time.
"""

import gzip
import http.server
import pathlib
import re
import sys
import threading
import urllib.parse

import chdb.session

PORT, FOLDER = int(sys.argv[1]), pathlib.Path(sys.argv[2])
# Names of the interface that are no settings of the engine.
OWN = {"query", "query_id", "database", "wait_end_of_query", "buffer_size"}


class Engine:
    def __init__(self):
        self.session = chdb.session.Session(str(FOLDER / "data"))
        self.lock = threading.Lock()
        self.rows = FOLDER / "rows"
        self.settings = {}

    def run(self, statement, rows, database, settings):
        with self.lock:
            self.session.query(f"USE {database}")
            for name, value in settings.items():
                if self.settings.get(name) != value:
                    self.session.query(f"SET {name} = '{value}'")
                    self.settings[name] = value
            if rows is not None:
                self.rows.write_bytes(rows)
                insert, form = re.fullmatch(r"(INSERT INTO .*) FORMAT (\w+)", statement, re.S).groups()
                statement = f"{insert} FROM INFILE '{self.rows}' FORMAT {form}"
            result = self.session.query(statement, "TSV")
            return result.bytes() if result is not None else b""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        asked = dict(urllib.parse.parse_qsl(urllib.parse.urlparse(self.path).query))
        statement, rows = (asked["query"], body) if "query" in asked else (body.decode(), None)
        settings = {name: value for name, value in asked.items() if name not in OWN}
        try:
            status, answer = 200, engine.run(statement, rows, asked.get("database", "default"), settings)
        except Exception as error:
            status, answer = 500, str(error).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


engine = Engine()
Server(("127.0.0.1", PORT), Handler).serve_forever()
