#!/usr/bin/env bash
# Posts three times a collector's capacity for a minute. Checks that the store has every acknowledged batch, that the other
# batches got a 429 or 503, that memory did not grow, and that readers got their answers.
#
#     scripts/overload.sh [SECONDS [CONNECTIONS]]
set -euo pipefail
cd "$(dirname "$0")/.."

. scripts/measured-server.sh

swift build -c release --product martlet-collector
ulimit -n 4096 2>/dev/null || true
start_collector "$(swift build -c release --show-bin-path)/martlet-collector" "$work/store.sqlite"
.build/python/bin/python scripts/overload.py "$address" "$server" "${2:-1000}" "${1:-60}"
