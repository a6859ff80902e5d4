"""The servers of a parity program: they run on loopback, send exact bytes and note the exact bytes that they receive.

The first line of output is a JSON object: the ports by role, and the certificate of the authority to trust. Then each
line of input is an instruction. `take` prints the requests received since the last `take`, as JSON. `await` prints an
empty line as soon as a request has arrived. `go` releases the answers that wait for it. The servers end with the input.
"""

import ctypes
import gzip
import json
import os
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib

HELLO = b"hello from the server\n"

# Seconds before the server's part of a TLS handshake, before the head of a slow answer, and between its head and its body.
HANDSHAKE, THINKING, TELLING = 0.02, 0.06, 0.04


class Gate:
    """Holds answers until the program says `go`, or takes the received requests."""

    def __init__(self):
        self.condition = threading.Condition()
        self.generation = 0

    def wait(self, generation):
        """Waits until the gate has been opened since `generation`, for 60 s at most."""
        with self.condition:
            self.condition.wait_for(lambda: self.generation != generation, timeout=60)

    def open(self):
        with self.condition:
            self.generation += 1
            self.condition.notify_all()


class Journal:
    """The requests of a cell, each under the number of its connection, in order of arrival."""

    def __init__(self):
        self.condition = threading.Condition()
        self.entries = []
        self.connections = {}
        self.unfinished = 0

    def begin(self, connection, role, head):
        with self.condition:
            number = self.connections.setdefault(connection, len(self.connections) + 1)
            entry = {"connection": number, "role": role, "head": head, "body": ""}
            self.entries.append(entry)
            self.unfinished += 1
            return entry

    def end(self, entry, body):
        with self.condition:
            entry["body"] = body
            self.unfinished -= 1
            self.condition.notify_all()

    def await_one(self):
        with self.condition:
            self.condition.wait_for(lambda: self.entries and self.unfinished == 0, timeout=5)

    def take(self):
        with self.condition:
            self.condition.wait_for(lambda: self.unfinished == 0, timeout=5)
            entries, self.entries, self.connections, self.unfinished = self.entries, [], {}, 0
            return entries


gate = Gate()
journal = Journal()


def described(body):
    if len(body) > 200:
        return f"{len(body)} bytes, crc32 {zlib.crc32(body)}"
    return body.decode("latin-1")


def pattern(count):
    block = bytes(range(256)) * 256
    return (block * (count // len(block) + 1))[:count]


class Peer:
    """One connection: reads requests and answers each as its path says."""

    def __init__(self, connection, role):
        self.socket = connection
        self.role = role
        self.file = connection.makefile("rb")

    def serve(self):
        try:
            while self.serve_one():
                pass
        except (OSError, ValueError):
            pass
        finally:
            try:
                self.file.close()
                self.socket.close()
            except OSError:
                pass

    def serve_one(self):
        head = []
        while True:
            line = self.file.readline()
            if not line:
                return False
            line = line.decode("latin-1").rstrip("\r\n")
            if not line:
                break
            head.append(line)
        self.generation = gate.generation
        entry = journal.begin(self, self.role, head)
        body = None
        try:
            self.headers = {k.strip().lower(): v.strip() for k, _, v in (h.partition(":") for h in head[1:])}
            self.method, target, _ = head[0].split(" ", 2)
            # The target of a request to a proxy is a whole URL.
            if target.startswith("http://"):
                target = "/" + target.split("/", 3)[3]
            self.path, _, query = target.partition("?")
            self.query = dict(pair.partition("=")[::2] for pair in query.split("&"))
            if self.headers.get("expect", "").lower() == "100-continue":
                self.send(b"HTTP/1.1 100 Continue\r\n\r\n")
            body = self.read_body()
        finally:
            journal.end(entry, described(body) if body is not None else "(cut off)")
        if self.role == "guarded":
            return self.answer_proxy_unauthorized(body)
        if self.method == "CONNECT":
            return self.tunnel(target)
        name = self.path.split("/")[1].replace("-", "_")
        return getattr(self, "answer_" + name, self.answer_hello)(body) is not False

    def read_body(self):
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            body = b""
            while size := int(self.file.readline().split(b";")[0], 16):
                body += self.read(size)
                self.file.readline()
            while self.file.readline().strip():
                pass
            return body
        return self.read(int(self.headers.get("content-length", 0)))

    def read(self, count):
        data = self.file.read(count)
        if len(data) < count:
            raise ValueError("the connection ended inside a body")
        return data

    def send(self, data):
        self.socket.sendall(data)

    def reply(self, body=HELLO, status="200 OK", headers=()):
        head = [f"HTTP/1.1 {status}", "Content-Type: text/plain", *headers, f"Content-Length: {len(body)}"]
        self.send("\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + (b"" if self.method == "HEAD" else body))

    def tunnel(self, target):
        host, _, port = target.rpartition(":")
        upstream = socket.create_connection((host, int(port)))
        self.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
        back = threading.Thread(target=pump, args=(upstream, self.socket), daemon=True)
        back.start()
        pump(self.socket, upstream)
        return False

    # The answers, by the first component of the path.

    def answer_hello(self, body):
        self.reply()

    def answer_echo(self, body):
        self.reply(f"received {described(body)}\n".encode("latin-1"))

    def answer_empty(self, body):
        self.reply(b"")

    def answer_big(self, body):
        size = int(self.query["bytes"])
        self.send(f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n".encode())
        block = pattern(1 << 20)
        while size > 0:
            self.send(block[: min(size, len(block))])
            size -= len(block)

    def answer_chunked(self, body):
        self.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for chunk in (b"one ", b"two ", b"three"):
            self.send(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        self.send(b"0\r\n\r\n")

    def answer_until_close(self, body):
        self.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + HELLO)
        return False

    def answer_http10(self, body):
        self.send(b"HTTP/1.0 200 OK\r\n\r\n" + HELLO)
        return False

    def answer_close(self, body):
        self.reply(headers=["Connection: close"])
        return False

    def answer_status(self, body):
        status = self.path.split("/")[2]
        if status in ("204", "304"):
            self.send(f"HTTP/1.1 {status} Told\r\nX-Status: {status}\r\nETag: \"e\"\r\n\r\n".encode())
        else:
            self.reply(f"status {status}\n".encode(), f"{status} Told")

    def answer_gzip(self, body):
        packed = gzip.compress(HELLO * 100, mtime=0)
        self.reply(packed, headers=["Content-Encoding: gzip"])

    def answer_early_hints(self, body):
        self.send(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n")
        self.reply()

    def answer_large_headers(self, body):
        self.reply(headers=[f"X-Large-{i}: " + "v" * 1000 for i in range(40)])

    def answer_repeated_headers(self, body):
        self.reply(headers=["X-Twice: one", "X-Twice: two", "x-lower: three", "X-Empty:", "X-Latin: caf\xe9"])

    def answer_halves(self, body):
        self.send(b"HTTP/1.1 200 OK\r\nContent-Length: 22\r\n\r\n" + HELLO[:11])
        gate.wait(self.generation)
        self.send(HELLO[11:])

    def answer_slow(self, body):
        time.sleep(THINKING)
        self.send(b"HTTP/1.1 200 OK\r\nContent-Length: 22\r\n\r\n" + HELLO[:11])
        time.sleep(TELLING)
        self.send(HELLO[11:])

    def answer_hang(self, body):
        gate.wait(self.generation)
        return False

    def answer_closed_in_body(self, body):
        self.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + HELLO)
        return False

    def answer_closed_in_chunk(self, body):
        self.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n50\r\n" + HELLO)
        return False

    def answer_closed_before_answer(self, body):
        return False

    def answer_reset(self, body):
        self.reset()
        return False

    def answer_reset_in_body(self, body):
        self.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + HELLO)
        gate.wait(self.generation)
        self.reset()
        return False

    def reset(self):
        """A socket that lingers for no time resets its connection when it is closed."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def answer_nonsense(self, body):
        self.send(b"NONSENSE\r\n\r\nnothing of this is HTTP\r\n")
        return False

    def answer_bad_chunk(self, body):
        self.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnot a size\r\n")
        return False

    def answer_bad_length(self, body):
        self.send(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n")
        return False

    def answer_bad_gzip(self, body):
        self.reply(b"this is not compressed", headers=["Content-Encoding: gzip"])

    def answer_redirect(self, body):
        target = self.query.get("to", "/echo")
        self.reply(b"moved\n", f"{self.query['status']} Moved", [f"Location: {target}"])

    def answer_loop(self, body):
        self.reply(b"moved\n", "302 Found", [f"Location: http://{self.headers['host']}/loop"])

    def answer_basic(self, body):
        if self.headers.get("authorization") == "Basic dXNlcjpzZWNyZXQ=":  # user:secret
            return self.reply(b"welcome\n")
        self.reply(b"who are you?\n", "401 Unauthorized", ['WWW-Authenticate: Basic realm="parity"'])

    def answer_digest(self, body):
        if self.headers.get("authorization") == "Basic dXNlcjpzZWNyZXQ=":  # user:secret
            return self.reply(b"welcome\n")
        challenge = 'Digest realm="parity", nonce="n", qop="auth"'
        if self.path.endswith("or-basic"):
            challenge += ', Basic realm="parity"'
        self.reply(b"who are you?\n", "401 Unauthorized", [f"WWW-Authenticate: {challenge}"])

    def answer_unauthorized(self, body):
        self.reply(b"no challenge\n", "401 Unauthorized")

    def answer_proxy_unauthorized(self, body):
        self.reply(b"no\n", "407 Proxy Authentication Required", ['Proxy-Authenticate: Basic realm="parity"'])

    def answer_ruled(self, body):
        """Does what a rule of the agent does (Cells/Rules.swift)."""
        name = self.path.split("/")[2]
        if name == "answer":
            self.reply(b"drill\n", "503 Service Unavailable", ["Retry-After: 1"])
        elif name == "large":
            self.bare("200 OK", b"x" * (1 << 20))
        elif name == "empty":
            self.send(b'HTTP/1.1 204 No Content\r\nETag: "e"\r\n\r\n')
        elif name == "moved":
            self.bare("302 Found", b"moved\n", ["Location: /hello"])
        elif name == "cookie":
            self.bare("200 OK", b"", ["Set-Cookie: taste=sweet; Path=/"])
        elif name == "challenge":
            self.bare("401 Unauthorized", b"who?\n", ['WWW-Authenticate: Basic realm="parity"'])
        elif name in ("late", "time-out"):
            gate.wait(self.generation)
            return False
        else:
            self.reply()

    def bare(self, status, body, headers=()):
        head = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}"]
        self.send("\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + body)

    def answer_set_cookie(self, body):
        self.reply(headers=["Set-Cookie: taste=sweet; Path=/", "Set-Cookie: size=large; Path=/"])

    def answer_cacheable(self, body):
        self.reply(headers=["Cache-Control: max-age=3600"])


def pump(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def ftp(control):
    """Serves one read-only file, with only the commands that a client needs to fetch it."""
    data = listener()
    lines = control.makefile("rb")
    say = lambda text: control.sendall(text.encode() + b"\r\n")
    say("220 parity")
    head = []
    for line in lines:
        command, _, _ = line.decode("latin-1").strip().partition(" ")
        head.append(line.decode("latin-1").strip())
        if command == "USER":
            say("331 password")
        elif command == "PWD":
            say('257 "/"')
        elif command == "EPSV":
            say(f"229 Entering Extended Passive Mode (|||{data.getsockname()[1]}|)")
        elif command == "SIZE":
            say(f"213 {len(HELLO)}")
        elif command == "RETR":
            entry = journal.begin(control, "ftp", head)
            say("150 here it comes")
            with data.accept()[0] as sink:
                sink.sendall(HELLO)
            say("226 done")
            journal.end(entry, "")
        elif command == "QUIT":
            say("221 bye")
            return
        else:
            say("200 as you say" if command in ("TYPE", "CWD") else "230 welcome")


def listener():
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("127.0.0.1", 0))
    sock.listen(128)
    return sock


def start(role, tls=None, serve=None):
    """Listens on a free port with a thread for each connection, and returns the port."""
    sock = listener()

    def handle(connection):
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if tls:
                # Once the client's part is there, the client has begun to count.
                connection.recv(1, socket.MSG_PEEK)
                time.sleep(HANDSHAKE)
                connection = tls.wrap_socket(connection, server_side=True)
            (serve or (lambda c: Peer(c, role).serve()))(connection)
        except OSError:
            pass

    def accept():
        while True:
            connection, _ = sock.accept()
            threading.Thread(target=handle, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return sock.getsockname()[1]


def tls_context(certificate, key, authority=None):
    """Returns a TLS context for a server, which asks its clients for a certificate of `authority`, if that is given."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    if authority:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(authority)
        # TLS 1.3 refuses a client only after the handshake, when its request may or may not have been written.
        context.maximum_version = ssl.TLSVersion.TLSv1_2
    return context


def free_port():
    with listener() as sock:
        return sock.getsockname()[1]


def end_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def start_http2(folder, certificate, key, upstream):
    """Starts nginx, which takes HTTP/2 from the program and passes requests on to the plain server as HTTP/1.1."""
    port = free_port()
    configuration = os.path.join(folder, "nginx.conf")
    with open(configuration, "w") as file:
        file.write(f"""
            daemon off; master_process off; pid {folder}/nginx.pid; error_log stderr crit;
            events {{}}
            http {{
                access_log off;
                client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
                fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
                client_max_body_size 0;
                server {{
                    listen 127.0.0.1:{port} ssl http2;
                    ssl_certificate {certificate}; ssl_certificate_key {key};
                    server_tokens off;
                    location / {{
                        proxy_pass http://127.0.0.1:{upstream};
                        proxy_http_version 1.1; proxy_request_buffering off; proxy_buffering off;
                        proxy_set_header Host $http_host;
                        proxy_set_header Connection "";
                        proxy_set_header X-Received-As $server_protocol;
                    }}
                }}
            }}
        """)
    nginx = subprocess.Popen(
        ["nginx", "-p", folder, "-c", configuration],
        env={"PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin"}, stdin=subprocess.DEVNULL,
        preexec_fn=end_with_parent)
    while nginx.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return port, nginx
        except ConnectionRefusedError:
            time.sleep(0.01)
    sys.exit("nginx did not start")


def self_signed(folder, name):
    """Makes a certificate for 127.0.0.1 that is its own authority, and its key. Returns the paths of both."""
    certificate, key = (os.path.join(folder, f"{name}.{kind}") for kind in ("crt", "key"))
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
        check=True, capture_output=True)
    return certificate, key


def main():
    with tempfile.TemporaryDirectory() as folder, socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # Bound, so that no other process takes the port.
        certificate, key = self_signed(folder, "trusted")
        ports = {
            "http": start("http"),
            "proxy": start("proxy"),
            "guarded": start("guarded"),
            "tls": start("tls", tls_context(certificate, key)),
            "certified": start("certified", tls_context(certificate, key, authority=certificate)),
            "untrusted": start("untrusted", tls_context(*self_signed(folder, "untrusted"))),
            "ftp": start("ftp", serve=ftp),
            "nobody": nobody.getsockname()[1],
        }
        ports["http2"], nginx = start_http2(folder, certificate, key, start("http2"))
        try:
            print(json.dumps({"ports": ports, "authority": certificate}), flush=True)
            for line in sys.stdin:
                if line.strip() == "await":
                    journal.await_one()
                    print(flush=True)
                    continue
                gate.open()
                if line.strip() == "take":
                    print(json.dumps(journal.take()), flush=True)
        finally:
            # nginx needs no orderly end, and the signal for one is blocked in a child of a Swift task's thread.
            nginx.kill()
            nginx.wait()


main()
