#!/usr/bin/env bash
# Builds a service with the agent, and the collector, for arm64 Linux. Runs both under user-mode emulation, and checks that the
# collector's report has each request of the service exactly once, and that it has the line of a crash.
#
#     scripts/aarch64.sh [REQUESTS]     requests of each of ProbeService's six kinds
#
# The machine is a bare Debian unstable, whose Swift for this machine builds for arm64 with the modules of its Swift for arm64.
# Needs root, and 8 GB in /var/tmp. Exits with 69 if it cannot make the machine. An emulated program's times mean
# nothing, and emulation on x86-64 keeps stores in order, which arm64 does not.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/loopback-server.sh
export LC_ALL=C  # Both lists are sorted by bytes.

requests=${1:-200}
triple=aarch64-unknown-linux-gnu
toolchain=debian
source scripts/bare-machine.sh
trap 'stop_server; rm -rf --one-file-system "$work"' EXIT

# Makes /opt/arm64 in the root, with links to the libraries for arm64, and with Swift's: in /usr these would replace Swift's
# libraries for this machine.
install_arm64() {
    echo "Installing Debian's libraries and Swift for arm64, and qemu-user"
    in_root dpkg --add-architecture arm64
    in_root apt-get -qq update >"$work/log" 2>&1 || impossible "There is no list of Debian's packages for arm64."
    install_packages qemu-user {libcurl4-openssl,libsqlite3,zlib1g,"libstdc++-$(in_root gcc -dumpversion)"}-dev:arm64
    in_root bash -euc '
        cd "$(mktemp -d)"
        apt-get -qq download {lib,}swiftlang:arm64
        mkdir /opt/arm64
        for package in *.deb; do dpkg-deb --fsys-tarfile "$package" | tar -x -C /opt/arm64 ./usr/libexec/swift/lib; done
        rm ./*.deb
        cd /opt/arm64/usr
        mkdir lib
        ln -s usr/lib ../lib
        ln -s /usr/include .
        ln -s /usr/lib/{aarch64-linux-gnu,gcc,ld-linux-aarch64.so.1} ../libexec/swift/lib/swift{,_static} lib' >"$work/log" 2>&1 ||
        impossible "Debian's Swift for arm64 cannot be unpacked."
}

# The bundle says where SwiftPM finds the libraries of arm64 (SE-0387).
write_bundle() {
    local bundle=$root/root/sdks/arm64.artifactbundle
    mkdir -p "$bundle/linux"
    cat >"$bundle/info.json" <<JSON
{"schemaVersion": "1.0", "artifacts": {"arm64": {"type": "swiftSDK", "version": "1", "variants": [{"path": "linux"}]}}}
JSON
    cat >"$bundle/linux/swift-sdk.json" <<JSON
{"schemaVersion": "4.0", "targetTriples": {"$triple": {
    "sdkRootPath": "/opt/arm64", "toolsetPaths": ["toolset.json"],
    "swiftResourcesPath": "/opt/arm64/usr/lib/swift", "swiftStaticResourcesPath": "/opt/arm64/usr/lib/swift_static"}}}
JSON
    echo '{"schemaVersion": "1.0", "swiftCompiler": {"extraCLIOptions": ["-use-ld=lld"]}}' >"$bundle/linux/toolset.json"
}

build() {
    in_root swift build --package-path /root/martlet --swift-sdks-path /root/sdks --swift-sdk arm64 \
        --pkg-config-path /usr/lib/aarch64-linux-gnu/pkgconfig --disable-index-store --product "$1"
}

# run_service SERVER REQUESTS FOLDER: runs the collector and then the service in the root, and prints the service's own counts
# and the collector's report. Then a process crashes, and the next one reports that. The agent's budget is raised, because
# emulated code takes far more CPU time.
run_service() {
    local folder=$3
    cd /root/martlet
    source scripts/measured-server.sh
    # Each call is in a subshell, which becomes the emulator.
    collector() { exec qemu-aarch64 "$folder/martlet-collector" "$@"; }
    start_collector collector "$work/store.sqlite"
    MARTLET_ENDPOINT=$address MARTLET_INTERVAL=1s MARTLET_MAX_CPU=100% MARTLET_BUFFER_DIR=$work/buffer \
        timeout 600 qemu-aarch64 "$folder/ProbeService" "$1" "$2" 8 | grep -oE '"(captured|delivered|waiting)":[0-9]+' | sort
    collector agents --collector "$address" --format json | tr -d ' \n' | grep -o '"capture":"automatic"'
    # Without the window's times and the rates.
    collector report --collector "$address" --since 1h --by endpoint --by status --format csv | cut -d, -f3-6,8 | sort
    for end in '--end unwrapped' '--flushes 5'; do
        # shellcheck disable=SC2086
        MARTLET_ENDPOINT=$address MARTLET_SERVICE_NAME=crashing MARTLET_BUFFER_DIR=$work/buffer \
            timeout 600 qemu-aarch64 "$folder/FaultProgram" --server "$1" --life crashing --ended "$work" --workers 0 $end \
            >/dev/null || true
    done
    collector agents --collector "$address" --format json | grep -o '"SIG[A-Z]* at Ending.swift:[0-9]*"'
}

# Prints what run_service must print.
expected() {
    printf '"%s":%s\n' captured $((6 * requests)) delivered $((6 * requests)) waiting 0
    echo '"capture":"automatic"'
    sort <<ROWS
completeness,endpoint,status,count,failures
1.0,/broken,503,$requests,$requests
1.0,/missing/{id},404,$requests,$requests
1.0,/nobody,,$requests,$requests
1.0,/orders/{id}/items,200,$requests,0
1.0,/posted,200,$requests,0
1.0,/users/{id},200,$requests,0
ROWS
    sed -n '/end: unwrapped$/=' Tests/FaultProgram/Ending.swift | sed 's/.*/"SIGTRAP at Ending.swift:&"/'
}

mkdir "$work/server"
start_server "$work/server"
make_bare_machine
install_arm64
write_bundle
for product in ProbeService FaultProgram martlet-collector; do build "$product"; done
in_root bash -euo pipefail -c "$(declare -f run_service); run_service $server $requests .build/$triple/debug" >"$work/found"
diff <(expected) "$work/found" >&2 || { echo "On arm64 the report differs from the requests of the service." >&2; exit 1; }
echo "arm64, emulated: each of $((6 * requests)) requests is in the report once, and a crash has its line."
