#!/usr/bin/env bash
# Measures the collector next to Debian's Prometheus, in one run, for the same points: one endpoint of one service for 10 s, with
# count, sum and 40 neighbouring buckets. Eight senders each have a separate connection.
#
# Durability differs. The collector syncs each batch to the disk (fsync) before it answers. Prometheus appends it to its log and
# leaves the syncing to the kernel, so the batch survives a kill and not a power cut.
#
# Prometheus makes blocks of its head after three hours of data. This script posts less, so its figures leave out that work.
# The collector's figures include the passes that roll up.
set -euo pipefail
cd "$(dirname "$0")/.."

. scripts/measured-server.sh

scripts/setup.sh test
python=.build/python/bin/python
"$python" -c 'import cramjam' 2>/dev/null || "$python" -m pip install --quiet --disable-pip-version-check cramjam
swift build -c release --product StoreBenchmark
swift build -c release --product martlet-collector
bin=$(swift build -c release --show-bin-path)

# measure NAME ADDRESS PATH POINTS: posts the bodies in the folder to the server, prints the cost, and ends the server.
measure() {
    local ticks taken refused seconds
    ticks=$(cpu_ticks)
    read -r taken refused seconds < <(Benchmarks/post.py "$2" "$3" "$work/bodies")
    # The server's work on the data in the next seconds is part of the cost.
    sleep 12
    ticks=$(($(cpu_ticks) - ticks))
    awk -v name="$1" -v points="$4" -v taken="$taken" -v refused="$refused" -v seconds="$seconds" \
        -v cpu="$(awk "BEGIN { print $ticks / $(getconf CLK_TCK) }")" \
        -v peak="$(peak_memory)" 'BEGIN {
        printf "%s, %d points a request: %d stored (%d requests refused), %d a second, %d a CPU-second, peak %d MiB\n",
            name, points, taken * points, refused, taken * points / seconds, taken * points / cpu, peak }'
    end_server
    rm -rf "$work/bodies" "$work/store" "$work/log"
}

# collector POINTS INTERVALS
collector() {
    "$bin/StoreBenchmark" bodies "$work/bodies" --points "$1" --intervals "$2"
    mkdir "$work/store"
    start_collector "$bin/martlet-collector" "$work/store/store.sqlite"
    measure "Martlet" "$address" /v1/metrics "$1"
}

# prometheus POINTS INTERVALS
prometheus() {
    "$python" Benchmarks/remote-write.py "$work/bodies" "$1" "$2"
    echo 'scrape_configs: []' >"$work/prometheus.yml"
    .build/prometheus/usr/bin/prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/store" \
        --web.enable-remote-write-receiver --enable-feature=native-histograms --web.listen-address=127.0.0.1:0 \
        >"$work/log" 2>&1 &
    server=$!
    until grep -qs 'ready to receive' "$work/log" && grep -q 'Listening on' "$work/log"; do sleep 0.1; done
    measure "Prometheus $(.build/prometheus/usr/bin/prometheus --version | awk 'NR == 1 { print $3 }')" \
        "http://$(sed -n 's/.*Listening on" address=//p' "$work/log")" /api/v1/write "$1"
}

echo "$(date -u +'%F %R') UTC, $(nproc) cores, load $(cut -d ' ' -f 1 /proc/loadavg)"
for receiver in collector prometheus; do
    "$receiver" 50 1000
    "$receiver" 1000 60
done
