#!/usr/bin/env bash
# Requests of every kind to an nginx on loopback, 64 at a time and then 2,000 at once, without the agent and with it.
# Fails when a request is not counted exactly once, or when memory grows with the agent and not without it.
#
#     scripts/soak.sh [REQUESTS]
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/loopback-server.sh

requests=${1:-200000}
work=$(mktemp -d)
trap 'stop_server; rm -rf "$work"' EXIT

swift build --product SoakProgram
program=$(swift build --show-bin-path)/SoakProgram
ulimit -n 8192 2>/dev/null || true  # The 2,000 have a connection each, and both its ends are here.
start_server "$work"

# The budget is tested elsewhere; here everything is to be exercised, whatever the load and the build cost.
export MARTLET_ENDPOINT=$server MARTLET_INTERVAL=1s MARTLET_BUFFER_DIR=$work/buffer MARTLET_MAX_CPU=100% HOME=$work
for mode in bare automatic; do
    "$program" --server "$server" --mode "$mode" --requests "$requests" --concurrency 64 --burst 2000 >"$work/$mode.json"
done
python3 scripts/soak-table.py "$work/bare.json" "$work/automatic.json"
