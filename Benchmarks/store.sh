#!/usr/bin/env bash
# Measures the store's cost of a point, when it is stored and when a report reads it, and the collector's cost of a posted
# point. Needs wrk and sqlite3. The month of data takes 3 GB in the folder for temporary files.
set -euo pipefail
cd "$(dirname "$0")/.."

. scripts/measured-server.sh

# The programs are linked as for the container.
build=(swift build -c release --static-swift-stdlib --scratch-path .build/static)
"${build[@]}" --product StoreBenchmark
"${build[@]}" --product martlet-collector
bin=$("${build[@]}" --show-bin-path)

# ingest POINTS INTERVALS [--sizes]: posts bodies of POINTS points from eight senders over eight connections, each as a batch of
# its own, and prints the cost.
ingest() {
    "$bin/StoreBenchmark" bodies "$work/bodies" --points "$1" --intervals "$2" "${@:3}"
    start_collector "$bin/martlet-collector" "$work/ingest.sqlite"
    local ticks requests
    ticks=$(cpu_ticks)
    wrk -t1 -c8 -d30s -s Benchmarks/ingest.lua "$address" -- "$work/bodies" $((8 * $2)) 8 >"$work/wrk"
    # The passes that follow the last batch are part of the cost.
    sleep 12
    ticks=$(($(cpu_ticks) - ticks))
    requests=$(awk '/requests in/ { print $1 }' "$work/wrk")
    grep -i 'non-2xx' "$work/wrk" || true
    echo "posted, $1 points a request ${*:3}: $requests requests in 30 s," \
        "$((requests * $1 * $(getconf CLK_TCK) / ticks)) points a CPU-second," \
        "peak $(peak_memory) MiB"
    end_server
    rm -rf "$work/bodies" "$work"/ingest.sqlite*
}

echo "$(date -u +'%F %R') UTC, $(nproc) cores, load $(cut -d ' ' -f 1 /proc/loadavg)"
for points in 50 1000; do
    "$bin/StoreBenchmark" store "$work/store.sqlite" --points "$points"
    rm "$work"/store.sqlite*
done
for sizes in "" --sizes; do
    ingest 50 250 $sizes
    ingest 1000 60 $sizes
done

"$bin/StoreBenchmark" generate "$work/month.sqlite"
ls -l "$work/month.sqlite"
sqlite3 -header -column "$work/month.sqlite" \
    "SELECT 'sender' AS of, tier, rolled, count(*) AS rows, sum(count) AS points, sum(length(points)) AS bytes FROM chunk
     GROUP BY tier, rolled UNION ALL
     SELECT 'version', tier, rolled, count(*), sum(count), sum(length(points)) FROM version_chunk GROUP BY tier, rolled"
# The report is made at half past, so that its window begins and ends within an hour. A whole hour would be read from chunks of
# hours.
now=$(sqlite3 "$work/month.sqlite" "SELECT max(end_time) / 1000000000 - 1800 FROM chunk")
for since in 1h 30d; do
    "$bin/StoreBenchmark" read "$work/month.sqlite" --since "$since" --now "$now"
    Benchmarks/store-floor.py "$work/month.sqlite" "$since" "$now"
done
"$bin/StoreBenchmark" page "$work/month.sqlite" --now "$now"
