#!/usr/bin/env bash
# Installs the Debian package of scripts/dist.sh on a bare machine with a running systemd and without Swift, uses it, upgrades,
# removes and purges it (scripts/dist/check-package.sh). Then runs the program with only the files that the container has.
#
#     scripts/check-dist.sh [SUITE]    a release of Debian, by default bookworm
#
# Needs root, debootstrap and systemd-nspawn. Exits with 69 if it cannot make a bare machine, and with 1 if a check fails.
set -euo pipefail
cd "$(dirname "$0")/.."

toolchain=none
suite=${1:-bookworm}
source scripts/bare-machine.sh
packages=$PWD/.build/packages

fail() {
    echo "$1" >&2
    exit 1
}

install_nspawn() {
    command -v systemd-nspawn >/dev/null ||
        apt-get -qq install --yes --no-install-recommends systemd-container >"$work/log" 2>&1 ||
        impossible "It needs systemd-nspawn."
}

# Makes an older package from the new one.
older_package() {
    dpkg-deb --raw-extract "$packages"/martlet-collector_*.deb "$work/older"
    sed -i 's/^Version: .*/Version: 0.0.1/' "$work/older/DEBIAN/control"
    dpkg-deb --build -Znone "$work/older" "$root/root/packages/older.deb" >/dev/null
    rm -r "$work/older"
}

# Puts the packages, a service with the agent and the check into the bare machine. The check is a unit that ends the machine.
prepare_machine() {
    mkdir "$root/root/packages"
    cp "$packages"/martlet-collector_*.deb "$root/root/packages/newer.deb"
    older_package
    scripts/dist/build.sh --product FirstHourRecipe >"$work/log" 2>&1 || fail "$(<"$work/log")"
    cp "$(scripts/dist/build.sh --show-bin-path)/FirstHourRecipe" "$root/root/packages/service"
    cp scripts/dist/check-package.sh "$root/root/packages/"
    cp scripts/dist/check-package.service "$root/etc/systemd/system/"
    in_root systemctl --quiet enable check-package.service
}

boot() {
    local status=0
    SYSTEMD_LOG_LEVEL=err systemd-nspawn --quiet --register=no --keep-unit --private-network --console=pipe --boot \
        --directory "$root" </dev/null >"$work/log" 2>&1 || status=$?
    [[ -s $root/root/packages/output ]] || impossible "systemd does not run."
    cat "$root/root/packages/output"
    ((status == 0)) || fail "The package does not work on Debian $suite."
}

require_means
install_nspawn
make_root
scripts/dist/check-container.sh "$root" "$packages"/martlet-collector-*/
install_packages ca-certificates libcurl4
prepare_machine
boot
