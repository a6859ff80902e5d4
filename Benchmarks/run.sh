#!/usr/bin/env bash
# Measures the cost that the agent adds to a URLSession request, and the cost of recording one. Builds the benchmarks, starts
# a separate nginx on loopback, and prints a table of each. Passes its arguments to `RequestBenchmark`.
set -euo pipefail
cd "$(dirname "$0")"
PATH=$PATH:/usr/sbin

fail() {
    echo "$1" >&2
    exit 1
}

install_nginx() {
    local -a apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq)
    ((EUID == 0)) || apt=(sudo "${apt[@]}")
    # In runlevel 1 a package does not start its service.
    RUNLEVEL=1 "${apt[@]}" update && RUNLEVEL=1 "${apt[@]}" install --yes --no-install-recommends nginx-light >/dev/null
}

command -v nginx >/dev/null || install_nginx || fail "Please install nginx and try again."

work=$(mktemp -d)
nginx=
finish() {
    [[ -z $nginx ]] || { kill "$nginx" && wait "$nginx"; } || true
    rm -rf "$work"
}
trap finish EXIT

# The configuration names every path, because nginx's default paths belong to the system's server.
configuration() {
    cat <<CONFIGURATION
daemon off;
worker_processes 1;
pid $work/nginx.pid;
error_log $work/error.log;
events { worker_connections 256; }
http {
    access_log off;
    keepalive_requests 1000000000;
    client_max_body_size 64m;
    client_body_temp_path $work/body;
    proxy_temp_path $work/proxy;
    fastcgi_temp_path $work/fastcgi;
    uwsgi_temp_path $work/uwsgi;
    scgi_temp_path $work/scgi;
    server {
        listen 127.0.0.1:$1;
        location / { return 200 "ok"; }
        location /v1/ { return 200; }  # A collector that takes everything.
    }
}
CONFIGURATION
}

# start_nginx PORT: fails when nginx does not start, most likely because of the port.
start_nginx() {
    configuration "$1" >"$work/nginx.conf"
    nginx -p "$work" -c "$work/nginx.conf" -e "$work/error.log" &
    nginx=$!
    for _ in {1..50}; do
        [[ -s $work/nginx.pid ]] && return
        kill -0 "$nginx" 2>/dev/null || break
        sleep 0.1
    done
    wait "$nginx" || true
    nginx=
    return 1
}

swift build -c release --product RequestBenchmark
# RecordingBenchmark imports the library with @testable, so it needs a separate build.
testing=(-c release --product RecordingBenchmark --package-path .. --scratch-path .build/testing -Xswiftc -enable-testing)
swift build "${testing[@]}"
recording=$(swift build "${testing[@]}" --show-bin-path)/RecordingBenchmark
benchmark=$(swift build -c release --show-bin-path)/RequestBenchmark

for _ in {1..10}; do
    port=$((RANDOM % 10000 + 20000))  # Below the range that the kernel gives to clients.
    start_nginx "$port" 2>/dev/null && break
done
[[ -n $nginx ]] || fail "nginx did not start:"$'\n'"$(<"$work/error.log")"

# The interval is the default, because the measurement includes storing, packing and uploading.
export MARTLET_ENDPOINT=http://127.0.0.1:$port MARTLET_BUFFER_DIR=$work/buffer

echo
echo "$(date -u +'%F %R') UTC, $(nproc) cores, load $(cut -d ' ' -f 1 /proc/loadavg), $(uname -sr), $(nginx -v 2>&1 | grep -o 'nginx/.*')"
swift --version 2>/dev/null | head -n 1
echo "This takes a few minutes."
echo
"$recording"
echo
"$benchmark" --server "http://127.0.0.1:$port" "$@"
