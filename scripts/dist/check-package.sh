#!/usr/bin/env bash
# Runs on a bare machine (scripts/check-dist.sh): installs the package, uses, upgrades, removes and purges it.
set -euo pipefail
cd "$(dirname "$0")"
export DEBIAN_FRONTEND=noninteractive HOME=/root
store=/var/lib/martlet/collector.sqlite

fail() {
    echo "$1"
    systemctl status --no-pager --full martlet-collector.service || true
    exit 1
}

milliseconds() {
    echo $(($(date +%s%N) / 1000000))
}

# get PORT PATH: prints an answer; a bare machine has no curl.
get() {
    (
        exec 3<>"/dev/tcp/127.0.0.1/$1"
        printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "$2" >&3
        cat <&3
    ) 2>/dev/null
}

# await SECONDS WHAT COMMAND…: repeats a command until it succeeds.
await() {
    local end=$((SECONDS + $1)) what=$2
    shift 2
    until "$@"; do
        ((SECONDS < end)) || fail "$what did not happen."
        sleep 0.1
    done
}

page_answers() {
    [[ $(get 4318 /) == "HTTP/1.1 200"* ]]
}

# counted REQUESTS: whether the report and the page have so many requests of the service.
counted() {
    [[ $(martlet-collector report --since 1h) == "None of $1 requests failed."* && $(get 4318 /) == *"/orders/{order}"* ]]
}

install_deb() {
    apt-get -qq install --yes "./$1.deb" >apt.log 2>&1 || fail "$(<apt.log)"
}

# All files that an installation may leave, and the users. dpkg's and apt's own records are left out.
files() {
    find / -xdev \( -path /proc -o -path /root/packages -o -path /run -o -path /tmp -o -path /var/cache -o -path /var/log \
        -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /var/tmp -o -path /var/lib/systemd \) -prune -o -print |
        grep -vE '^/etc/(passwd|group|shadow|gshadow|subuid|subgid)-$' | sort
    cut -d : -f 1 /etc/passwd /etc/group
}

# For each order the service asks another one: here the collector, which answers 404. Only incoming requests are counted.
use_service() {
    local address request
    MARTLET_SERVICE_NAME=shop MARTLET_EXCLUDE='*' HOME=$PWD ./service http://127.0.0.1:4318 >service.log 2>&1 &
    service=$!
    await 10 "A line with the service's address" grep -q '^listening on' service.log
    address=$(sed -n 's|^listening on http://127.0.0.1:||p' service.log)
    for request in {1..20}; do get "$address" "/orders/$request" >/dev/null; done
}

collector() {
    systemctl show --value --property MainPID martlet-collector.service
}

# Memory that is the collector's, in kB.
memory() {
    awk '$1 == "VmRSS:" { print int($2 * 1.024) }' "/proc/$(collector)/status"
}

. /etc/os-release
echo "== $PRETTY_NAME, glibc $(ldd --version | sed -n '1s/.* //p'), $(systemctl --version | head -n 1)"
! command -v swift || fail "The machine has Swift."
files >before

begin=$(milliseconds)
install_deb older
installed=$(milliseconds)
await 10 "An answer of the page within 10 s" page_answers
echo "The page answers $(($(milliseconds) - installed)) ms after apt, which took $((installed - begin)) ms."
[[ $(stat --format %U:%a "$store") == martlet:600 ]] || fail "The store has other rights: $(stat --format %U:%a "$store")"
systemd-analyze verify martlet-collector.service || fail "systemd does not accept the unit."

use_service
await 60 "A page with 20 requests" counted 20
echo "The service's own requests are on the page $((($(milliseconds) - begin) / 1000)) s after the first command."
kill "$service"
wait "$service" || true

sleep 30
echo "Idle, the collector has $(memory) kB."
(($(memory) <= 50000)) || fail "That is more than 50 MB."

older=$(collector)
echo MARTLET_COLLECTOR_ADMIN_PORT=4319 >>/etc/martlet/collector.env
install_deb newer
await 10 "An answer of the new version" page_answers
counted 20 || fail "The upgrade lost the store."
[[ $(get 4319 /readyz) == "HTTP/1.1 200"* ]] || fail "The upgrade lost the settings."
[[ $(collector) != "$older" ]] || fail "The old process still runs."
get 4319 /metrics | grep -F "build_info{version=\"$(martlet-collector --version)\"}" || fail "The metrics have another version."

apt-get -qq remove --yes martlet-collector >apt.log 2>&1 || fail "$(<apt.log)"
! page_answers || fail "The collector runs after its removal."
[[ -e $store && -e /etc/martlet/collector.env ]] || fail "The removal took the data or the settings."
install_deb newer
await 10 "An answer after the second installation" page_answers
counted 20 || fail "The removal took the data."

apt-get -qq purge --yes martlet-collector >apt.log 2>&1 || fail "$(<apt.log)"
files >after
diff before after || fail "Purging left the lines above."
echo "Upgraded, removed and purged: the store was kept until the purge, which left nothing."
