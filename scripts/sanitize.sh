#!/usr/bin/env bash
# Runs requests of every kind in programs built with the thread sanitizer or the address sanitizer: under load, in each cell of
# the parity matrix, and while capture is switched, the agent is restarted or the process exits with requests in flight. Fails
# on any race, any bad access, and any leak from our code.
#
#     scripts/sanitize.sh [thread|address]        (default: both)
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/loopback-server.sh

(($# > 0)) || set -- thread address
work=$(mktemp -d)
trap 'stop_server; rm -rf "$work"' EXIT

fail() {
    echo "$1" >&2
    exit 1
}

# build SANITIZER DIRECTORY
build() {
    local product
    for product in SoakProgram ParityProgram; do
        swift build --sanitize="$1" --scratch-path "$2" --disable-index-store --product "$product"
    done
}

# run NAME COMMAND…: runs a command, and shows its output if it fails.
run() {
    echo "$1: ${*:3}"
    timeout 600 "${@:2}" >"$work/$1" 2>&1 || fail "The program ended with status $?:"$'\n'"$(tail -n 30 "$work/$1")"
}

# exercise NAME DIRECTORY
exercise() {
    local soak=("$1" "$2/debug/SoakProgram" --server "$server" --concurrency 32)
    export MARTLET_BUFFER_DIR="$work/buffer of the $1"
    run "${soak[@]}" --requests 2000 --burst 200
    run "${soak[@]}" --requests 1000 --mode explicit
    # A short limit makes the search for hung requests race with their end.
    export MARTLET_HUNG=100ms
    run "${soak[@]}" --requests 2000 --disturb switching
    run "${soak[@]}" --requests 2000 --disturb restarting
    # At such an exit, memory in use looks leaked, because Swift keeps other bits in some of its pointers.
    ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 run "${soak[@]}" --requests 2000 --disturb leaving
    unset MARTLET_HUNG
    run "$1" "$2/debug/ParityProgram" automatic
    run "$1" "$2/debug/ParityProgram" explicit
}

# Foundation and libcurl leak with every request, with and without the agent. A leak from our code has a frame of our code.
own_leaks() { awk -v RS= '/ leak of / && (/\$s7Martlet/ || /\/Sources\/C?Martlet/)' "$@"; }

for sanitizer; do build "$sanitizer" ".build/$sanitizer-sanitizer"; done
clang -shared -fPIC -O1 -Wall -Wextra -Werror -o "$work/mutex.so" scripts/sanitizer/mutex.c
start_server "$work"
mkdir "$work/reports"
shopt -s nullglob

# Capture keeps everything that it can, so that all of its code runs.
export MARTLET_ENDPOINT=$server MARTLET_INTERVAL=100ms MARTLET_MAX_CPU=100% HOME=$work
export MARTLET_SAMPLE_RATE=1 MARTLET_CAPTURE_HEADERS=all MARTLET_CAPTURE_BODIES=all

export ASAN_OPTIONS="detect_leaks=1:exitcode=0:log_path=$work/reports/address"
export TSAN_OPTIONS="exitcode=0:log_path=$work/reports/thread"

# The programs wait for servers half of the time, so two sanitizers run in parallel.
running=()
for sanitizer; do
    [[ $sanitizer == address ]] || preload=$work/mutex.so
    (LD_PRELOAD=${preload:-} exercise "$sanitizer sanitizer" ".build/$sanitizer-sanitizer") &
    running+=($!)
    unset preload
done
status=0
for pid in "${running[@]}"; do wait "$pid" || status=$?; done
((status == 0)) || exit "$status"

races=("$work"/reports/thread.*)
((${#races[@]} == 0)) || fail "$(cat "${races[@]}")"

reports=("$work"/reports/address.*)
if ((${#reports[@]} > 0)); then
    ! grep -h 'ERROR: AddressSanitizer' "${reports[@]}" || fail "$(cat "${reports[@]}")"
    leaks=$(own_leaks "${reports[@]}")
    [[ -z $leaks ]] || fail "$leaks"
fi
echo "The sanitizers found nothing in Martlet: $*."
