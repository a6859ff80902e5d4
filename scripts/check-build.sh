#!/usr/bin/env bash
# Builds everything, tests included, and fails on a warning in our own code.
set -euo pipefail
cd "$(dirname "$0")/.."

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# The compiler skips a module that is up to date, and then omits its warnings.
find Sources Collector Examples Tests -name '*.swift' -exec touch {} +

scripts/build.sh --build-tests 2>&1 | tee "$log"
scripts/own-warnings.sh "$log"
