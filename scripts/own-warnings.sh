#!/usr/bin/env bash
# Fails if the output of `swift build` has a warning in our own code, and prints these warnings.
# -warnings-as-errors cannot be limited to our code: it conflicts with -suppress-warnings, which dependencies are built with.
#
#     scripts/own-warnings.sh LOG
set -euo pipefail
cd "$(dirname "$0")/.."

package=$(basename "$PWD" | tr '[:upper:]' '[:lower:]')
own="^($PWD/(Sources|Collector|Examples|Tests)/.*|macro expansion .*|warning: '$package'.*)"
if grep --text -E "$own" "$1" | grep --text 'warning:' | sort -u >&2; then
    echo "The build has warnings." >&2
    exit 1
fi
