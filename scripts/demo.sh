#!/usr/bin/env bash
# Runs a small shop to watch: a storefront, catalog and payments with the agent in them, a Python service with the OpenTelemetry
# SDK that payments calls, a collector with its page, and 3,000 visits. The payment service is down for a third of the visits
# and comes back in a slower version. One request never gets an answer. Then the shop goes on by itself, and faults come one after
# the other (scripts/demo-faults.sh). Runs until Ctrl-C, which ends everything and leaves nothing behind.
set -euo pipefail
cd "$(dirname "$0")/.."

# Each program has a separate process group. So Ctrl-C reaches only this script, which ends the programs in an order that loses
# nothing.
set -m

work=$(mktemp -d)
declare -A pids=()

fail() {
    echo "$1" >&2
    exit 1
}

# start NAME COMMAND…: runs a command in the background, with its output in a file. The shell around it outlives it, whatever ends
# it, so that bash does not report a crash on the terminal.
start() {
    local name=$1
    shift
    : >"$work/$name.log"
    (
        trap : INT TERM
        "$@"
    ) </dev/null >>"$work/$name.log" 2>&1 &
    pids[$name]=$!
}

# stop NAME: asks the command to end, and kills it after ten seconds.
stop() {
    local pid=${pids[$1]:-}
    unset "pids[$1]"
    [[ -n $pid ]] && kill -TERM -- "-$pid" 2>/dev/null || return 0
    for _ in {1..100}; do
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    kill -KILL -- "-$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
}

# The services end before the collector, which takes their last batches.
stop_all() {
    local status=$?
    trap '' INT TERM
    for name in build timer shopper visitor storefront payments catalog risk collector; do stop "$name"; done
    rm -rf "$work"
    exit "$status"
}
trap stop_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# run NAME COMMAND…: runs a command to its end. It also runs in the background, because bash handles a signal only after a
# foreground command has ended.
run() {
    local name=$1 status=0
    shift
    "$@" </dev/null &
    pids[$name]=$!
    wait "${pids[$name]}" || status=$?
    unset "pids[$name]"
    return "$status"
}

# await_address NAME: waits for the command's address and sets `address` to it.
await_address() {
    for _ in {1..300}; do
        address=$(grep -om1 'listening on http://127\.0\.0\.1:[0-9]*' "$work/$1.log") && break
        kill -0 "${pids[$1]}" 2>/dev/null || break
        sleep 0.1
    done
    address=${address#listening on }
    [[ -n $address ]] || fail "$1 did not start:"$'\n'"$(<"$work/$1.log")"
}

# start_service NAME VERSION COMMAND…: runs a service that sends its figures to the collector.
start_service() {
    local name=$1 version=$2
    shift 2
    start "$name" env MARTLET_ENDPOINT="$collector" MARTLET_INTERVAL=2s MARTLET_SERVICE_NAME="$name" \
        MARTLET_SERVICE_VERSION="$version" MARTLET_ENVIRONMENT=demo MARTLET_BUFFER_DIR="$work/buffer" MARTLET_HUNG=3s "$@"
    await_address "$name"
}

# start_catalog VERSION [OPTION]…: uses the port that it had before.
start_catalog() {
    start_service catalog "$1" "$bin/Upstream" --name catalog --port "${catalog##*:}" --log "$work/catalog.jsonl" "${@:2}"
    catalog=$address
}

# start_payments VERSION [OPTION]…
start_payments() {
    start_service payments "$1" "$bin/Upstream" --name payments --port "${payments##*:}" --log "$work/payments.jsonl" \
        ${risk:+--risk "$risk"} "${@:2}"
    payments=$address
}

# If the machine cannot install the OpenTelemetry SDK for Python, the demo runs without this service.
start_risk() {
    local python=.build/python/bin/python
    "$python" -c 'import opentelemetry.exporter.otlp.proto.http' 2>/dev/null || {
        echo "The service in Python is left out: the OpenTelemetry SDK is not installed."
        return
    }
    start risk env OTEL_EXPORTER_OTLP_ENDPOINT="$collector" OTEL_SERVICE_NAME=risk \
        OTEL_RESOURCE_ATTRIBUTES=service.version=1.0.0,deployment.environment.name=demo,service.instance.id=risk-1 \
        "$python" Examples/Risk/risk.py
    await_address risk && risk=$address
}

# start_storefront VERSION [OPTION]…
start_storefront() {
    start_service storefront "$1" env MARTLET_ENDPOINTS='/products/{product}/reviews' MARTLET_RULES="$work/rules.json5" \
        "$bin/Storefront" --catalog "$catalog" --payments "$payments" --port "${storefront##*:}" "${@:2}"
    storefront=$address
}

shop() {
    echo "$1"
    run shopper "$bin/Shopper" --storefront "$storefront" --requests 1000 --concurrency 6 >"$work/visits"
    sed '$d' "$work/visits"
    expected=$((expected + $(sed -n '$s/.*: //p' "$work/visits")))
}

report() {
    "$bin/martlet-collector" report --collector "$collector" --since 1h --service storefront --kind client "$@"
}

# Prints the count of the totals. The other objects of a row have separate counts.
reported() {
    report --format json 2>/dev/null | tr -d ' \n' |
        sed -E 's/"(failures|latency_ms|phases_ms|bytes)":\{[^}]*\},?//g' |
        grep -oE '"totals":\{[^}]*\}' | grep -oE '"count":[0-9]+' | grep -oE '[0-9]+' || true
}

await_report() {
    for _ in {1..30}; do
        [[ $(reported) == "$expected" ]] && return
        sleep 0.5
    done
    echo "The report has $(reported) of $expected requests after 15 seconds." >&2
}

# The demo builds only these four. Building the tests too would take twice the time and need more system headers.
for product in martlet-collector Storefront Upstream Shopper; do run build scripts/build.sh --product "$product"; done
bin=$(scripts/build.sh --show-bin-path)

# The storefront's rules: empty, until the user copies the drill over them (docs/rules.md).
echo '{ rules: [] }' >"$work/no-rules.json5"
cp "$work/no-rules.json5" "$work/rules.json5"
cat >"$work/drill.json5" <<'DRILL'
{
  rules: [
    { name: "payments drill",
      match: { path: "/payments", method: "POST", share: "20%" },
      respond: { status: 503, headers: { "Retry-After": "1" }, body: "a drill" },
      delay: "400ms" },
  ],
}
DRILL

start collector "$bin/martlet-collector" serve --host 127.0.0.1 --port 0 --store "sqlite:$work/store.sqlite"
await_address collector && collector=$address
risk='' catalog=:0 payments=:0 storefront=:0
start_risk
start_catalog 3.2.0
start_payments 1.8.3
start_storefront 2.4.1

SECONDS=0
echo "The page is at $collector/ while the shop gets its visits."
expected=0
shop "1,000 visits:"
stop payments
# This visit waits for an answer that never comes. It counts as hung.
start visitor "$bin/Shopper" --storefront "$storefront" --wait-for-stock
expected=$((expected + 1))
shop "1,000 visits while payments is away, and one that waits for ever:"
start_payments 1.9.0 --payment-time 150
shop "1,000 visits with a new, slower version of payments:"
await_report

echo
echo "Requests of the storefront, as Martlet reports them:"
report
echo
echo "Answers of catalog and payments, by their own logs:"
sort "$work/catalog.jsonl" "$work/payments.jsonl" | uniq -c

cat <<TRY

The page:       $collector/
The storefront: $storefront
To try:
  $bin/martlet-collector report --collector $collector --kind client --by endpoint --by status
  $bin/martlet-collector report --collector $collector --kind client --by error --sort failures
  $bin/martlet-collector agents --collector $collector
  $bin/Shopper --storefront $storefront --requests 1000
A drill: a fifth of the payments are answered with 503, 400 ms later, and payments never hears of them.
  on:   cp $work/drill.json5 $work/rules.json5
  shop: $bin/Shopper --storefront $storefront --requests 1000
  see:  $bin/martlet-collector report --collector $collector --service storefront --by endpoint --by rule
  off:  cp $work/no-rules.json5 $work/rules.json5
Ctrl-C ends it all.
TRY

trap 'exit 0' INT TERM
source scripts/demo-faults.sh
