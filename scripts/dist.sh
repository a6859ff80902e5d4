#!/usr/bin/env bash
# Makes packages of the collector for this machine's architecture in .build/packages: an archive, a Debian package, the symbols of
# the program, and checksums. Nothing in them depends on the time, the user or the file system. The program's debug information, and
# so its build id, depends on the folder of the build and on the versions of the packages, which the SBOM lists.
set -euo pipefail
cd "$(dirname "$0")/.."
umask 022
export LC_ALL=C TZ=UTC SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)

packages=$PWD/.build/packages
version=$(sed -n 's/.* current = "\(.*\)"/\1/p' Sources/MartletTelemetry/MartletVersion.swift)
name=martlet-collector-$version-linux-$(uname -m)
tree=$packages/$name

fail() {
    echo "$1" >&2
    exit 1
}

# Copies the program without its symbols, and the symbols into a folder next to the tree.
strip_program() {
    local symbols=$packages/$name-symbols/martlet-collector.debug
    mkdir -p "$tree/bin" "$(dirname "$symbols")"
    objcopy --only-keep-debug --compress-debug-sections "$1" "$symbols"
    objcopy --strip-all --remove-section=.swift1_autolink_entries "$1" "$tree/bin/martlet-collector"
    (cd "$(dirname "$symbols")" && objcopy --add-gnu-debuglink=martlet-collector.debug "$tree/bin/martlet-collector")
    chmod 0644 "$symbols"
}

# Prints the version of glibc that the program needs. It must need nothing else but libgcc, with which glibc ends threads.
needed_glibc() {
    local others
    others=$(objdump -p "$1" | awk '$1 == "NEEDED" { print $2 }' |
        grep -vxE 'lib(c|m|dl|pthread|rt)\.so\.[0-9]+|ld-linux-.*|libgcc_s\.so\.1') || true
    [[ -z $others ]] || fail "The program needs more than glibc and libgcc:"$'\n'"$others"
    objdump -T "$1" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1 | cut -d _ -f 2
}

write_completions() {
    local program=$tree/bin/martlet-collector share=$tree/share
    mkdir -p "$share"/{bash-completion/completions,zsh/site-functions,fish/vendor_completions.d}
    "$program" --generate-completion-script bash >"$share/bash-completion/completions/martlet-collector"
    "$program" --generate-completion-script zsh >"$share/zsh/site-functions/_martlet-collector"
    "$program" --generate-completion-script fish >"$share/fish/vendor_completions.d/martlet-collector.fish"
}

write_manual() {
    mkdir -p "$tree/share/man/man1"
    "$1/generate-manual" "$tree/bin/martlet-collector" --multi-page --date "$(date --date="@$SOURCE_DATE_EPOCH" +%F)" \
        --output-directory "$tree/share/man/man1"
    gzip -n9 "$tree"/share/man/man1/*
}

write_documents() {
    local folder=$tree/share/doc/martlet-collector
    mkdir -p "$folder"
    cp LICENSE NOTICE "$folder/"
    # The other pages are not in the archive.
    sed -E 's/\[([^]]*)\]\([^)]*\.md[^)]*\)/\1/g' docs/install.md >"$folder/install.md"
    scripts/dist/contents.py .build/dist "$version" "$glibc" "$folder"
    printf '%s\n' "martlet-collector $version for $(uname -m) needs Linux with glibc $glibc or later and libgcc, and no other library." \
        "To send requests over https it reads the system's certificates (Debian: ca-certificates)." >"$folder/requirements.txt"
}

copy_files() {
    install -D -m 0644 deploy/systemd/martlet-collector.service -t "$tree/lib/systemd/system"
    install -D -m 0600 deploy/systemd/collector.env -t "$tree/etc/martlet"
    install -m 0644 deploy/container/Containerfile "$tree"
    # The container's store starts as a copy of this empty folder.
    install -d -m 0700 "$tree/store"
}

# archive FOLDER: makes FOLDER.tar.gz with nothing that depends on the time, the user or the file system.
archive() {
    tar --create --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
        --directory "$packages" "$1" | gzip -n9 >"$packages/$1.tar.gz"
}

# Prints the size of all files in a folder.
bytes() {
    find "$1" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum }'
}

debian_package() {
    local root=$packages/debian architecture script
    architecture=$(dpkg --print-architecture)
    mkdir -p "$root/usr/share" "$root/DEBIAN"
    cp -a "$tree"/{bin,lib,share} "$root/usr/"
    mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
    mv "$root/usr/share/doc/martlet-collector/LICENSE" "$root/usr/share/doc/martlet-collector/copyright"
    cp -a "$tree/etc" "$root/"
    sed -e "s/@VERSION@/$version/; s/@ARCHITECTURE@/$architecture/; s/@GLIBC@/$glibc/" \
        -e "s/@SIZE@/$(($(bytes "$root") / 1024))/" deploy/debian/control >"$root/DEBIAN/control"
    echo /etc/martlet/collector.env >"$root/DEBIAN/conffiles"
    for script in postinst prerm postrm; do install -m 0755 "deploy/debian/$script" "$root/DEBIAN/"; done
    (cd "$root" && find usr -type f | sort | xargs md5sum >DEBIAN/md5sums)
    find "$root" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --build --root-owner-group --threads-max=1 -Zxz "$root" "$packages/martlet-collector_${version}_$architecture.deb" >/dev/null
}

# check_size MEGABYTES FILE-OR-FOLDER
check_size() {
    echo "$(($(bytes "$2") / 1000)) kB  ${2##*/}"
    (($(bytes "$2") <= $1 * 1000000)) || fail "${2##*/} is larger than $1 MB."
}

[[ -n $version ]] || fail "Sources/MartletTelemetry/MartletVersion.swift has no version."
for product in martlet-collector generate-manual; do scripts/dist/build.sh --product "$product"; done
bin=$(scripts/dist/build.sh --show-bin-path)

rm -rf "$packages"
strip_program "$bin/martlet-collector"
glibc=$(needed_glibc "$tree/bin/martlet-collector")
write_completions
write_manual "$bin"
write_documents
copy_files
archive "$name"
archive "$name-symbols"
debian_package
rm -rf "$packages/debian" "$packages/$name-symbols"
(cd "$packages" && sha256sum ./*.tar.gz ./*.deb | sed 's| \./| |' >SHA256SUMS)
check_size 70 "$tree"
check_size 26 "$tree.tar.gz"
check_size 18 "$packages"/*.deb
