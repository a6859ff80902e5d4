#!/usr/bin/env bash
# Sends requests of every kind to an nginx on loopback, 64 at a time and then many at once, without the agent and with it. Fails
# if a request is not counted exactly once, or if memory grows with the agent but not without it.
#
#     scripts/soak.sh [REQUESTS [AT_ONCE]]
#
# The time for requests at once grows with the square of their number, with and without the agent: Foundation handles each
# waiting connection again and again.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/loopback-server.sh

requests=${1:-200000}
at_once=${2:-2000}
work=$(mktemp -d)
trap 'stop_server; rm -rf "$work"' EXIT
# bash does not report a command that SIGPIPE ended.
trap 'echo "scripts/soak.sh: line $LINENO: \"$BASH_COMMAND\" ended with $?." >&2' ERR

scripts/build.sh --product SoakProgram
program=$(scripts/build.sh --show-bin-path)/SoakProgram
ulimit -n 8192 2>/dev/null || true  # Each of the simultaneous requests has a connection, with both ends here.
start_server "$work"

# Other tests cover the budget. This one has to run all code under any load and in any build.
export MARTLET_ENDPOINT=$server MARTLET_INTERVAL=1s MARTLET_BUFFER_DIR=$work/buffer MARTLET_MAX_CPU=100% HOME=$work
for mode in bare automatic; do
    "$program" --server "$server" --mode "$mode" --requests "$requests" --concurrency 64 --burst "$at_once" >"$work/$mode.json"
done
python3 scripts/soak-table.py "$work/bare.json" "$work/automatic.json"
