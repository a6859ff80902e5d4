#!/usr/bin/env bash
# Runs commands one after the other, all of them to the end, and repeats the last lines of those that failed.
#
#     scripts/steps.sh COMMAND…     each a command with its arguments, in one word
set -uo pipefail
cd "$(dirname "$0")/.."

log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=()
for command; do
    printf '\n== %s\n' "$command"
    SECONDS=0
    bash -o pipefail -c "$command" 2>&1 </dev/null | tee "$log"
    if ((PIPESTATUS[0] == 0)); then
        printf '== %s: done after %s s\n' "$command" "$SECONDS"
    else
        failed+=("$command"$'\n'"$(tail -n 24 "$log")")
    fi
done
((${#failed[@]} > 0)) || exit 0
printf '\n!! Failed, with the last lines of each:\n'
printf '\n!! %s\n' "${failed[@]}"
exit 1
