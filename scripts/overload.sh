#!/usr/bin/env bash
# Three times what a collector can take, for a minute: what it acknowledged has to be there afterwards, the rest was told 429,
# its memory stayed as it was, and whoever asked was answered.
#
#     scripts/overload.sh [SECONDS [CONNECTIONS]]
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
collector=
finish() {
    [[ -z $collector ]] || { kill "$collector" && wait "$collector"; } || true
    rm -rf "$work"
}
trap finish EXIT

swift build -c release --product martlet-collector
ulimit -n 4096 2>/dev/null || true
"$(swift build -c release --show-bin-path)/martlet-collector" serve --port 0 --store "sqlite:$work/store.sqlite" \
    >"$work/address" &
collector=$!
until [[ -s $work/address ]]; do sleep 0.1; done
address=$(grep -o 'http://[^ ]*' "$work/address")
.build/python/bin/python scripts/overload.py "$address" "$collector" "${2:-1000}" "${1:-60}"
