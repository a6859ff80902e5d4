#!/usr/bin/env bash
# Builds the tests, and runs those whose names match one of the patterns: a test, a suite or a target.
#
#     scripts/test.sh PATTERN…
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/build.sh --build-tests
scripts/tests.py --filter "$@"
