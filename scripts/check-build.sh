#!/usr/bin/env bash
# Builds everything, tests included, and fails on a warning in our own code.
# -warnings-as-errors cannot be limited to our code: it contradicts the -suppress-warnings that dependencies are built with.
set -euo pipefail
cd "$(dirname "$0")/.."

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# The compiler skips a module that is up to date, and its warnings with it.
find Sources Collector Examples Tests -name '*.swift' -exec touch {} +

swift build --build-tests --disable-xctest --explicit-target-dependency-import-check error 2>&1 | tee "$log"

package=$(basename "$PWD" | tr '[:upper:]' '[:lower:]')
if grep -E "^($PWD/(Sources|Collector|Examples|Tests)/.*|macro expansion .*|warning: '$package'.*)" "$log" | grep 'warning:' | sort -u >&2; then
    echo "The build has warnings." >&2
    exit 1
fi
