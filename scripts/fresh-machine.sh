#!/usr/bin/env bash
# Runs README's commands, or other make targets, on a bare machine: makes a bare Debian, clones the last commit into it, and
# removes it afterwards.
#
#     scripts/fresh-machine.sh [--toolchain debian] [demo|test|TARGET]…
#
# The machine is Debian 12 with this machine's Swift, or with `--toolchain debian` Debian unstable with its own Swift. Needs
# root, debootstrap and some gigabytes. Exits with 69 if it cannot make a bare machine, and with 1 if a command fails.
set -euo pipefail
cd "$(dirname "$0")/.."

toolchain=own
if [[ ${1:-} == --toolchain ]]; then
    toolchain=${2:-}
    shift 2
fi
[[ $toolchain == own || $toolchain == debian ]] || { echo "--toolchain must be own or debian, not '$toolchain'." >&2; exit 64; }
(($# > 0)) || set -- demo test

source scripts/bare-machine.sh
make_bare_machine
in_root swift --version
in_root /root/martlet/scripts/readme-commands.sh "$@"
