# Source this file for a bare Debian machine in `root`, a folder that is removed when the script ends. `toolchain` must be set:
# `own` makes Debian 12 with this machine's Swift, `debian` makes Debian unstable with its own Swift, and `none` makes the Debian
# that `suite` names, with systemd and no Swift. Git, certificates and apt are set up as on this machine. The script exits with 69
# if it cannot make a bare machine.
work=$(mktemp -d -p /var/tmp martlet-bare.XXXXXX)
root=$work/root
trap 'rm -rf --one-file-system "$work"' EXIT

impossible() {
    [[ ! -s $work/log ]] || tail -n 20 "$work/log" >&2
    echo "!!!!!!!! A BARE MACHINE CANNOT BE MADE HERE: $1 !!!!!!!!" >&2
    exit 69
}

require_means() {
    ((EUID == 0)) || impossible "It needs root."
    [[ $toolchain != own || $(swift_folder) != /usr/bin ]] || impossible "Swift is a part of this system's /usr."
    unshare --mount --pid --fork true 2>"$work/log" || impossible "It needs namespaces."
    command -v debootstrap >/dev/null && return
    { apt-get -qq update && apt-get -qq install --yes --no-install-recommends debootstrap; } >"$work/log" 2>&1 ||
        impossible "It needs debootstrap."
}

# Prints the mirror of this machine's Debian.
mirror() {
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null |
        grep -E '^(deb|URIs:) ' | grep -oEm1 'https?://[^ ]+/debian/?( |$)' | tr -d ' '
}

# Swift's dependencies belong to a machine that has Swift (Debian's package leaves out C++). Headers that only Martlet needs do
# not.
make_root() {
    local packages=ca-certificates,git,make,tzdata
    case $toolchain in
        own)
            suite=bookworm
            packages+=,binutils,libc6-dev,libgcc-12-dev,libstdc++-12-dev,libcurl4,libncurses6,libsqlite3-0,libxml2
            ;;
        debian) suite=sid packages+=,g++ ;;
        none) packages=systemd-sysv ;;
    esac
    echo "Making a bare Debian ($suite)"
    unshare --mount debootstrap --variant=minbase --include="$packages" "$suite" "$root" "$(mirror)" >"$work/log" 2>&1 ||
        impossible "debootstrap failed."
    local file
    for file in /etc/{gitconfig,gitignore,pip.conf,hosts,resolv.conf,apt/apt.conf.d} "$HOME"/.{gitconfig,config/pip} \
        /etc/ssl/certs/ca-certificates.crt; do
        [[ ! -e $file ]] || { mkdir -p "$root$(dirname "$file")" && cp -rL "$file" "$root$(dirname "$file")"; }
    done
}

# Prints the folder of Swift's programs in the root.
swift_folder() {
    [[ $toolchain == own ]] && dirname "$(readlink -f "$(command -v swift)")" || echo /usr/libexec/swift/bin
}

# Prints the folders that the root shares with this machine: the toolchain's, and folders that git reads instead of an address.
shared_folders() {
    { git config --get-regexp '^url\./.*\.insteadof$' || true; } | sed -E 's|^url\.(/.*)\.insteadof .*|\1|' | sort -u
    [[ $toolchain != own ]] || dirname "$(dirname "$(swift_folder)")"
}

# Enters the root and runs a command. Its mounts and processes end with it. The root has its own devices: if this machine's
# devices were bound into the root, they would be removed with it.
enter() {
    local folder
    mount -t proc proc "$root/proc"
    mount -t tmpfs tmpfs "$root/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
    while read -r folder; do
        mkdir -p "$root/$folder"
        mount --bind "$folder" "$root/$folder"
        mount -o remount,bind,ro "$root/$folder"
    done < <(shared_folders)
    exec chroot "$root" env -i ${CI:+CI="$CI"} HOME=/root LANG=C.UTF-8 \
        PATH="$(swift_folder):/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" "$@"
}

in_root() {
    (
        export root toolchain
        export -f enter shared_folders swift_folder
        unshare --mount --pid --fork --kill-child bash -euo pipefail -c 'enter "$@"' bash "$@"
    )
}

# install_packages PACKAGE…: installs Debian's packages in the root.
install_packages() {
    in_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends "$@" >"$work/log" 2>&1 ||
        impossible "$* cannot be installed."
}

# Debian's package of Swift (6.2.3-1) lacks a library that the linker looks for. The tests use nothing from it, so an empty
# library with its name is enough.
install_swift() {
    [[ $toolchain == debian ]] || return 0
    echo "Installing Debian's Swift"
    install_packages swiftlang
    in_root ar rc /usr/libexec/swift/lib/swift/linux/lib_Testing_Foundation.a
}

# Makes the root, with Swift and a clone of the last commit in /root/martlet.
make_bare_machine() {
    require_means
    make_root
    install_swift
    git clone --quiet --no-hardlinks . "$root/root/martlet"
}
