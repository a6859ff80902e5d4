#!/usr/bin/env bash
# Runs the built tests that the arguments select, and repeats the failures at the end of their long output.
set -euo pipefail

log=$(mktemp)
trap 'rm -f "$log"' EXIT
swift test --disable-xctest --skip-build "$@" 2>&1 | tee "$log" && ! grep --text --quiet 'Test run with 0 tests' "$log" && exit
printf '\nFailed, of the tests with %s:\n' "$*"
grep --text '✘' "$log" || echo "No test ran, or the tests ended early: see above."
exit 1
