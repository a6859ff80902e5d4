#!/usr/bin/env bash
# Sends requests of every kind to an nginx on loopback, 64 at a time and then 2,000 at once, without the agent and with it.
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
ulimit -n 8192 2>/dev/null || true  # Each of the 2,000 requests has a connection, with both ends on this machine.
start_server "$work"

# Other tests cover the budget. This one has to run all code at any load and in any build.
export MARTLET_ENDPOINT=$server MARTLET_INTERVAL=1s MARTLET_BUFFER_DIR=$work/buffer MARTLET_MAX_CPU=100% HOME=$work
for mode in bare automatic; do
    "$program" --server "$server" --mode "$mode" --requests "$requests" --concurrency 64 --burst 2000 >"$work/$mode.json"
done
python3 scripts/soak-table.py "$work/bare.json" "$work/automatic.json"
