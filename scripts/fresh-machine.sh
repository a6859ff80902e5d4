#!/usr/bin/env bash
# Runs README's commands on a machine that has nothing: a bare Debian, made for it and removed afterwards, in which the last
# commit is cloned.
#
#     scripts/fresh-machine.sh [--toolchain debian] [demo|test]…
#
# It is Debian 12 with this machine's Swift, or with `--toolchain debian` Debian unstable with the Swift that it has. Git,
# certificates and apt are set up as they are here. Needs root, debootstrap and some gigabytes. Ends with 69 where a bare
# machine cannot be made, and with 1 where a command fails.
set -euo pipefail
cd "$(dirname "$0")/.."

toolchain=own
if [[ ${1:-} == --toolchain ]]; then
    toolchain=${2:-}
    shift 2
fi
[[ $toolchain == own || $toolchain == debian ]] || { echo "There is no toolchain '$toolchain'." >&2; exit 64; }
(($# > 0)) || set -- demo test

work=$(mktemp -d -p /var/tmp martlet-fresh.XXXXXX)
root=$work/root
trap 'rm -rf --one-file-system "$work"' EXIT

impossible() {
    [[ ! -s $work/log ]] || tail -n 20 "$work/log" >&2
    echo "A bare machine cannot be made here: $1" >&2
    exit 69
}

require_means() {
    ((EUID == 0)) || impossible "it needs root."
    [[ $toolchain == debian || $(swift_folder) != /usr/bin ]] || impossible "Swift is a part of this system's /usr."
    unshare --mount --pid --fork true 2>"$work/log" || impossible "it needs namespaces."
    command -v debootstrap >/dev/null && return
    { apt-get -qq update && apt-get -qq install --yes --no-install-recommends debootstrap; } >"$work/log" 2>&1 ||
        impossible "it needs debootstrap."
}

# The mirror that this machine's own Debian comes from.
mirror() {
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null |
        grep -E '^(deb|URIs:) ' | grep -oEm1 'https?://[^ ]+/debian/?( |$)' | tr -d ' '
}

# What Swift itself asks for is part of a machine that has it (Debian's package leaves out C++); headers that only Martlet
# wants are not.
make_root() {
    local suite=bookworm packages=ca-certificates,git,make,tzdata
    if [[ $toolchain == own ]]; then
        packages+=,binutils,libc6-dev,libgcc-12-dev,libstdc++-12-dev,libcurl4,libncurses6,libsqlite3-0,libxml2
    else
        suite=sid packages+=,g++
    fi
    echo "Making a bare Debian ($suite)"
    unshare --mount debootstrap --variant=minbase --include="$packages" "$suite" "$root" "$(mirror)" >"$work/log" 2>&1 ||
        impossible "debootstrap failed."
    local file
    for file in /etc/{gitconfig,gitignore,pip.conf,hosts,resolv.conf,apt/apt.conf.d} "$HOME"/.{gitconfig,config/pip} \
        /etc/ssl/certs/ca-certificates.crt; do
        [[ ! -e $file ]] || { mkdir -p "$root$(dirname "$file")" && cp -rL "$file" "$root$(dirname "$file")"; }
    done
}

# The folder of its programs, in the root.
swift_folder() {
    [[ $toolchain == own ]] && dirname "$(readlink -f "$(command -v swift)")" || echo /usr/libexec/swift/bin
}

# Folders of this machine that are there in the root too: the toolchain's, and those that git reads instead of an address.
shared_folders() {
    { git config --get-regexp '^url\./.*\.insteadof$' || true; } | sed -E 's|^url\.(/.*)\.insteadof .*|\1|' | sort -u
    [[ $toolchain != own ]] || dirname "$(dirname "$(swift_folder)")"
}

# Nothing that it mounts or starts outlives it. The devices are the root's own: this machine's, bound into a root that is
# removed, would be removed with it.
enter() {
    local folder
    mount -t proc proc "$root/proc"
    mount -t tmpfs tmpfs "$root/dev/shm"
    while read -r folder; do
        mkdir -p "$root/$folder"
        mount --bind "$folder" "$root/$folder"
        mount -o remount,bind,ro "$root/$folder"
    done < <(shared_folders)
    exec chroot "$root" env -i HOME=/root LANG=C.UTF-8 \
        PATH="$(swift_folder):/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" "$@"
}

in_root() {
    (
        export root toolchain
        export -f enter shared_folders swift_folder
        unshare --mount --pid --fork --kill-child bash -euo pipefail -c 'enter "$@"' bash "$@"
    )
}

require_means
make_root
if [[ $toolchain == debian ]]; then
    echo "Installing Debian's Swift"
    in_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends swiftlang \
        >"$work/log" 2>&1 || impossible "Debian's Swift cannot be installed."
    # The package (6.2.3-1) leaves out a library that the linker is told to look for; tests that use nothing of it need no
    # more than its name.
    in_root ar rc /usr/libexec/swift/lib/swift/linux/lib_Testing_Foundation.a
fi
git clone --quiet --no-hardlinks . "$root/root/martlet"
in_root swift --version
in_root /root/martlet/scripts/readme-commands.sh "$@"
