#!/usr/bin/env bash
# Checks that a service which depends on Martlet need not resolve the collector's dependencies.
# Makes a throw-away package that uses only the one product, shows its graph, and fails if the graph has such a dependency.
set -euo pipefail
repository=$(cd "$(dirname "$0")/.." && pwd)
consumer=$(mktemp -d)
trap 'rm -rf "$consumer"' EXIT

mkdir -p "$consumer/Sources/Consumer"
echo 'import Martlet' >"$consumer/Sources/Consumer/Consumer.swift"
cat >"$consumer/Package.swift" <<MANIFEST
// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "consumer",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "martlet", path: "$repository")],
    targets: [.target(name: "Consumer", dependencies: [.product(name: "Martlet", package: "martlet")])]
)
MANIFEST

graph=$(swift package --package-path "$consumer" show-dependencies --format json)
echo "$graph"

unwanted=$(grep -oiE '"identity": "(hummingbird|async-http-client|swift-nio[^"]*|grdb\.swift|swift-argument-parser)"' <<<"$graph" | sort -u || true)
if [[ -n $unwanted ]]; then
    echo "A package that depends on Martlet has to resolve packages it does not need:" "$unwanted" >&2
    exit 1
fi
