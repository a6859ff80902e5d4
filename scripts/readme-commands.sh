#!/usr/bin/env bash
# Runs README's commands, or other make targets, as a reader does. The demo runs to its report and ends at Ctrl-C. Checks the
# report's count, and that no build has a warning in our own code.
#
#     scripts/readme-commands.sh demo|test|TARGET…
set -euo pipefail
cd "$(dirname "$0")/.."

# Each command has a separate process group. So Ctrl-C reaches the demo and all its programs, as from a terminal.
set -m

# The demo makes 3,000 visits. Four in ten of them make two requests. One more visit never gets an answer.
demo_requests=4,201

log=$(mktemp)
demo=
trap '[[ -z $demo ]] || kill -TERM -- "-$demo" 2>/dev/null; rm -f "$log"' EXIT

fail() {
    cat "$log" >&2
    echo "$1" >&2
    exit 1
}

# await_line BEGINNING: waits until the demo has printed a line.
await_line() {
    until grep -q "^$1" "$log"; do
        kill -0 "$demo" 2>/dev/null || fail "The demo ended before the line \"$1…\"."
        ((SECONDS < 1800)) || fail "After half an hour the demo had not printed \"$1…\"."
        sleep 1
    done
}

run_demo() {
    local port
    SECONDS=0
    # A script started in the background may ignore Ctrl-C, and then its programs ignore it too.
    env --default-signal=INT make demo >"$log" 2>&1 </dev/null &
    demo=$!
    await_line 'The page is at '
    echo "make demo: the page was there after $SECONDS s."
    await_line 'Ctrl-C ends it all'
    echo "make demo: the report was there after $SECONDS s."
    sed -n '/^Requests of the storefront/,$p' "$log"
    kill -INT -- "-$demo"
    wait "$demo" || true
    demo=

    scripts/own-warnings.sh "$log"
    grep -qE "^total +$demo_requests " "$log" || fail "The report does not have the $demo_requests requests that were made."
    port=$(sed -nE 's|^The page: +http://127.0.0.1:([0-9]+)/.*|\1|p' "$log")
    [[ -n $port ]] || fail "The demo does not print the address of its page."
    ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || fail "Ctrl-C left the demo's collector running."
}

# run_target TARGET
run_target() {
    SECONDS=0
    make "$1" </dev/null 2>&1 | tee "$log"
    scripts/own-warnings.sh "$log"
    echo "make $1: done after $SECONDS s."
}

case $# in
    1) if [[ $1 == demo ]]; then run_demo; else run_target "$1"; fi ;;
    *) scripts/steps.sh "${@/#/scripts/readme-commands.sh }" ;;
esac
