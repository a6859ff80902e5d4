#!/usr/bin/env bash
# Three times what a collector can take, for a minute: what it acknowledged has to be there afterwards, the rest was told 429,
# its memory stayed as it was, and whoever asked was answered.
#
#     scripts/overload.sh [SECONDS [CONNECTIONS]]
set -euo pipefail
cd "$(dirname "$0")/.."

. scripts/measured-server.sh

swift build -c release --product martlet-collector
ulimit -n 4096 2>/dev/null || true
start_collector "$(swift build -c release --show-bin-path)/martlet-collector" "$work/store.sqlite"
.build/python/bin/python scripts/overload.py "$address" "$server" "${2:-1000}" "${1:-60}"
