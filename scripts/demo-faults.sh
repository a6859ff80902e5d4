# Source this file in demo.sh after its report: the shop goes on by itself, and faults come one after the other. Each is a new
# version of a service. A line says when it came, so that it can be compared with the page.
#
# The times are those that the findings need. A change of durations has 20 minutes before it. A change of the requests for each
# request lasts for 6 and has 10 before it. Memory is watched while it grows for 8. Faults that could be taken for each other's
# effects are some minutes apart.

# at MINUTES:SECONDS: waits until this time after the first visit. Starts payments again whenever it has crashed.
at() {
    local ended due=$((10#${1%:*} * 60 + 10#${1#*:}))
    while ((SECONDS < due)); do
        start timer sleep $((due - SECONDS))
        wait -n -p ended "${pids[@]}" || true
        [[ $ended == "${pids[timer]}" ]] || restart "$ended"
        stop timer
    done
}

# restart PID: starts payments again. The demo ends with any other program that ends.
restart() {
    [[ $1 == "${pids[payments]}" && ${#crashing[@]} -gt 0 ]] || fail "A program of the demo has ended, so the demo ends as well."
    start_payments "${crashing[@]}"
}

# fault KIND SENTENCE: KIND is that of the finding.
fault() { printf '%s  %-8s  %s\n' "$(date -u +%T)" "$1" "$2"; }

# replace SERVICE VERSION [OPTION]…: a new version takes the place of the old one.
replace() {
    stop "$1"
    "start_$1" "${@:2}"
}

crashing=()
stop visitor
start shopper "$bin/Shopper" --storefront "$storefront" --pace 10
echo
echo "The shop goes on with 10 visits a second. Six faults come within the next half hour (times in UTC):"

at 4:00
fault starved "storefront 2.5.0 draws receipts (GET /orders/{id}) with code that blocks all threads."
replace storefront 2.5.0 --flaw blocking

at 5:00
fault ended "payments 1.10.0 crashes while it answers some GET /payments/{id}."
crashing=(1.10.0 --payment-time 150 --flaw crash)
replace payments "${crashing[@]}"

at 6:00
replace storefront 2.6.0 --flaw retries
at 8:00
fault retries "catalog 3.2.1 has lost its database, and storefront 2.6.0 sends each GET /products/{id} up to five times."
replace catalog 3.2.1 --flaw no-database
at 8:30
crashing=()
replace payments 1.10.1 --payment-time 150

at 12:00
fault memory "catalog 3.3.0 keeps each answer in memory."
replace catalog 3.3.0 --flaw leak

at 13:00
fault calls "storefront 2.7.0 asks catalog for the reviews of each product of its list (GET /), one after the other."
replace storefront 2.7.0 --flaw many-calls
at 22:30
replace storefront 2.7.1

at 25:00
replace catalog 3.3.1
fault slow "payments 1.11.0 takes more than twice as long for each POST /payments."
replace payments 1.11.0 --payment-time 400
at 29:00
replace payments 1.11.1 --payment-time 150

at 29:30
cat <<PLAYED

All faults were played. What Martlet found:
  $bin/martlet-collector findings --collector $collector --since 1h --environment demo
The shop goes on without faults. Ctrl-C ends it all.
PLAYED
at 999999:00
