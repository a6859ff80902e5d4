#!/usr/bin/env bash
# Builds with the flags that all our commands share: with other flags, SwiftPM would rebuild most of it.
#
#     scripts/build.sh --build-tests | --product NAME | …
set -euo pipefail
cd "$(dirname "$0")/.."

export MARTLET_OPTIMIZE_FOR_TESTS=1
exec swift build --disable-xctest --disable-index-store --explicit-target-dependency-import-check error "$@"
