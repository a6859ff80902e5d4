#!/usr/bin/env bash
# Writes the manual pages of martlet-collector into .build/man, one for each subcommand. The generator is a tool of
# swift-argument-parser, on which the collector already depends.
set -euo pipefail
cd "$(dirname "$0")/.."

for product in martlet-collector generate-manual; do scripts/build.sh --product "$product"; done
bin=$(scripts/build.sh --show-bin-path)
mkdir -p .build/man
"$bin/generate-manual" "$bin/martlet-collector" --multi-page --output-directory .build/man
echo "The manual pages are in .build/man:  man -l .build/man/martlet-collector.1"
