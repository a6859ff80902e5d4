#!/usr/bin/env bash
# Regenerates Sources/MartletOTLP/Generated from Sources/MartletOTLP/Protos.
# Needs protoc (Debian: protobuf-compiler); builds protoc-gen-swift of the version that Package.resolved names.
set -euo pipefail
cd "$(dirname "$0")/.."

swift build --package-path .build/checkouts/swift-protobuf --scratch-path .build/protoc-gen-swift --product protoc-gen-swift
plugin=$(swift build --package-path .build/checkouts/swift-protobuf --scratch-path .build/protoc-gen-swift --show-bin-path)/protoc-gen-swift

protoc --proto_path=Sources/MartletOTLP/Protos \
    --plugin=protoc-gen-swift="$plugin" \
    --swift_out=Visibility=Package:Sources/MartletOTLP/Generated \
    Sources/MartletOTLP/Protos/*.proto
