#!/usr/bin/env bash
# Measures uploads over each transport: a backlog of batches delivered on loopback, and one upload with an answer after 5 s.
# The service is `FaultProgram`, which does only this here.
#
#     Benchmarks/uploads.sh [seconds of load that make the backlog]
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-20}
swift build -c release --product FaultProgram >&2
program=$(swift build -c release --show-bin-path)/FaultProgram

work=$(mktemp -d)
server=
finish() {
    [[ -z $server ]] || { kill "$server" && wait "$server"; } 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
mkdir "$work/ended" "$work/home"

# This server prints its port, and answers 200 after the given number of seconds.
cat >"$work/server.py" <<'PYTHON'
import http.server, sys, time

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body are two writes, which Nagle's algorithm would delay.
    disable_nagle_algorithm = True

    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        time.sleep(float(sys.argv[1]) if self.command == "POST" else 0.01)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST = answer
    def log_message(self, *arguments): pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
PYTHON

start_server() {
    [[ -z $server ]] || { kill "$server" && wait "$server"; } 2>/dev/null || true
    rm -f "$work/port"
    python3 "$work/server.py" "$1" >"$work/port" &
    server=$!
    until [[ -s $work/port ]]; do sleep 0.05; done
    port=$(<"$work/port")
}

# service NAME COLLECTOR-PORT REQUESTS: runs the service and prints its wall, user and system seconds.
service() {
    env HOME="$work/home" MARTLET_BUFFER_DIR="$work/buffer" MARTLET_SERVICE_NAME=bench MARTLET_INTERVAL=100ms \
        MARTLET_MAX_CPU=100% MARTLET_EXPORT_TIMEOUT=10s MARTLET_LOG_LEVEL=critical \
        MARTLET_ENDPOINT="http://127.0.0.1:$2" bash -c 'TIMEFORMAT="%R s, CPU %U s + %S s"; time "$0" "$@" >/dev/null' \
        "$program" --server "http://127.0.0.1:$port" --life "$1" --ended "$work/ended" --requests "$3" \
        --workers $(($3 > 0 ? 4 : 0)) --flushes 1 --within 60
}

start_server 0
service backlog 1 $((seconds * 300)) 2>/dev/null
cp -a "$work/buffer" "$work/backlog"
echo "$(find "$work/backlog" -name '*.otlp.gz' | wc -l) batches"
for transport in libcurl urlsession; do
    for _ in 1 2 3; do
        rm -rf "$work/buffer"
        cp -a "$work/backlog" "$work/buffer"
        echo "$transport: $(MARTLET_TRANSPORT=$transport service "sweep-$transport" "$port" 0 2>&1)"
        [[ -z $(find "$work/buffer" -name '*.otlp.gz') ]] || echo "some batches were not delivered"
    done
done

start_server 5
for transport in libcurl urlsession; do
    rm -rf "$work/buffer"
    echo "$transport, an answer after 5 s: $(MARTLET_SAMPLE_RATE=0 MARTLET_TRANSPORT=$transport service "slow-$transport" "$port" 1 2>&1)"
done
