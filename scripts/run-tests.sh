#!/usr/bin/env bash
# Runs the built tests that the arguments select, and repeats the failures at the end of their long output.
set -euo pipefail

# Swift Testing starts all tests at once by default. On two cores a test then waits seconds for its turn, and the stores of all tests
# have 2,000 descriptors, with which Foundation's Process.run reads past its memory up to Swift 6.3.1
# (https://github.com/swiftlang/swift-corelibs-foundation/pull/5472).
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-4}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
swift test --disable-xctest --skip-build "$@" 2>&1 | tee "$log" && ! grep --text --quiet 'Test run with 0 tests' "$log" && exit
printf '\nFailed, of the tests with %s:\n' "$*"
grep --text '✘' "$log" || echo "No test ran, or the tests ended early: see above."
exit 1
