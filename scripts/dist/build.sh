#!/usr/bin/env bash
# Builds programs for other machines: optimised, with Swift, SQLite, zlib and libstdc++ in them.
#
#     scripts/dist/build.sh --product NAME | --show-bin-path
set -euo pipefail
cd "$(dirname "$0")/../.."
scratch=$PWD/.build/dist
libraries=$scratch/libraries

# The linker takes a static library where it finds no other, and looks into the folders of pkg-config first.
mkdir -p "$libraries"
for library in sqlite3 stdc++ z; do ln -sf "$(clang -print-file-name="lib$library.a")" "$libraries/"; done
printf 'Name: zlib\nDescription: compression\nVersion: 1\nLibs: -L%s -lz\nCflags:\n' "$libraries" >"$libraries/zlib.pc"
export PKG_CONFIG_PATH=$libraries

# Most of Foundation's Unicode data is of languages that these programs do not print. The linker takes the smaller part instead.
data=$libraries/icu-data-$(swiftc --version 2>/dev/null | sha256sum | cut -c 1-12).o
[[ -e $data ]] ||
    scripts/dist/icu-data.py "$(dirname "$(readlink -f "$(command -v swiftc)")")/../lib/swift_static/linux" "$data"
wrapped=$(nm --defined-only "$data" | sed -n 's/.* __wrap_//p')

# libstdc++ takes random numbers from glibc 2.36. Ubuntu 22.04 has an older one.
clang -c -O2 -x c - -o "$libraries/random.o" <<'C'
#include <sys/random.h>
unsigned __wrap_arc4random(void) {
    unsigned value;
    while (getrandom(&value, sizeof value, 0) != sizeof value) {}
    return value;
}
C

# Nothing in a program may depend on the name of this folder.
exec swift build -c release --static-swift-stdlib --scratch-path "$scratch" --disable-index-store --disable-local-rpath \
    -Xswiftc -file-prefix-map -Xswiftc "$PWD=." -Xcc "-ffile-prefix-map=$PWD=." \
    -Xlinker "$data" -Xlinker "--wrap=$wrapped" -Xlinker "$libraries/random.o" \
    -Xlinker --wrap=arc4random -Xlinker --build-id=sha1 -Xlinker --no-export-dynamic "$@"
