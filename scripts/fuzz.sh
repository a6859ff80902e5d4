#!/usr/bin/env bash
# Feeds bodies from libFuzzer to the collector's decoders, under the address sanitizer: protobuf, JSON and gzip, metrics and
# traces. Starts from real bodies and from the finds of earlier runs in .build/fuzz/corpus. Fails on a crash, on a body that
# takes longer than 10 s or more than 1 GiB, and on an answer that does not blame the sender. The body that caused the failure
# stays in .build/fuzz.
#     scripts/fuzz.sh [SECONDS]        (default: 60)
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
build=.build/fuzz
modules=$build/release/Modules
mkdir -p "$build/corpus" "$build/seeds"
# -sanitize names both sanitizers in one option. Of two such options the compiler uses only the second, and libFuzzer would see
# no part of the decoders.
swift build -c release --sanitize=fuzzer --sanitize=address --scratch-path "$build" -Xswiftc -parse-as-library \
    -Xswiftc -sanitize=fuzzer,address \
    --target MartletIntake

# Code sees `package` declarations if it is compiled under the same package name. SwiftPM derives that name from the folder's
# name.
package=$(sed -n 's/.*"-module-name","MartletIntake".*"-package-name","\([^"]*\)".*/\1/p' "$build/release.yaml" | head -n 1)
objects=("$build"/release/{MartletIntake,MartletOTLP,MartletStorage,MartletTelemetry,SwiftProtobuf}.build/*.o)
swiftc -O -parse-as-library -package-name "$package" -sanitize=fuzzer,address -use-ld=lld -I "$modules" \
    -I Sources/CMartletZlib Tests/Fuzz/IntakeFuzzer.swift "${objects[@]}" -lz -o "$build/IntakeFuzzer"
MARTLET_FUZZ_SEEDS=$build/seeds "$build/IntakeFuzzer" -max_total_time="$seconds" -max_len=8192 -timeout=10 \
    -rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$build/" "$build/corpus" "$build/seeds"
