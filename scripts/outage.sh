#!/usr/bin/env bash
# Simulates a week without a collector, with the default buffer. Takes half an hour of CPU in a release build of the tests.
set -euo pipefail
cd "$(dirname "$0")/.."

build=(swift build -c release --build-tests --disable-xctest --scratch-path .build/testing -Xswiftc -enable-testing)
"${build[@]}"
MARTLET_TEST_OUTAGE=week "$("${build[@]}" --show-bin-path)/martletPackageTests.xctest" \
    --testing-library swift-testing --filter LongOutageTests
