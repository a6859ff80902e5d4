#!/usr/bin/env bash
# Bodies that libFuzzer makes up, through the collector's decoders, under the address sanitizer: protobuf, JSON and gzip,
# metrics and traces. Starts from real bodies and goes on from what earlier runs found, in .build/fuzz/corpus. Fails on a
# crash, on a body that takes longer than 10 s or more than 1 GiB, and on an answer that is not the sender's fault; what
# did it stays in .build/fuzz.
#     scripts/fuzz.sh [SECONDS]        (default: 60)
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
build=.build/fuzz
modules=$build/release/Modules
mkdir -p "$build/corpus" "$build/seeds"
# Said once more as one option: of two the compiler takes the second alone, and libFuzzer would see nothing of the decoders.
swift build -c release --sanitize=fuzzer --sanitize=address --scratch-path "$build" -Xswiftc -parse-as-library \
    -Xswiftc -sanitize=fuzzer,address \
    --target MartletIntake

# `package` declarations are seen by code that is compiled under the same name, which is made from the folder's.
package=$(sed -n 's/.*"-module-name","MartletIntake".*"-package-name","\([^"]*\)".*/\1/p' "$build/release.yaml" | head -n 1)
objects=("$build"/release/{MartletIntake,MartletOTLP,MartletTelemetry,SwiftProtobuf}.build/*.o)
swiftc -O -parse-as-library -package-name "$package" -sanitize=fuzzer,address -use-ld=lld -I "$modules" \
    -I Sources/CMartletZlib Tests/Fuzz/IntakeFuzzer.swift "${objects[@]}" -lz -o "$build/IntakeFuzzer"
MARTLET_FUZZ_SEEDS=$build/seeds "$build/IntakeFuzzer" -max_total_time="$seconds" -max_len=8192 -timeout=10 \
    -rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$build/" "$build/corpus" "$build/seeds"
