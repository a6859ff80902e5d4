#!/usr/bin/env bash
# image.sh PROGRAM FOLDER: makes the whole file system of an image that runs PROGRAM: the program itself, the C libraries that
# it is linked with, and a folder for temporary files.
set -euo pipefail
program=$1
folder=$2

install -D -m 0755 "$program" "$folder/program"
strip "$folder/program"
# ldd prints the loader's own path, and the path at which each library was found.
ldd "$program" | grep -oE '/[^ ]+' | sort -u | while read -r library; do
    install -D -m 0755 "$library" "$folder$library"
done
# The resolver opens these libraries by name. The image has them if the building machine does.
for library in /lib/*-linux-gnu/libnss_dns.so.2 /lib/*-linux-gnu/libnss_files.so.2 /lib/*-linux-gnu/libresolv.so.2; do
    [[ ! -e $library ]] || install -D -m 0755 "$library" "$folder$library"
done
# Commands that ask another collector over HTTPS need certificates.
[[ ! -e /etc/ssl/certs/ca-certificates.crt ]] ||
    install -D -m 0644 /etc/ssl/certs/ca-certificates.crt "$folder/etc/ssl/certs/ca-certificates.crt"
install -d -m 1777 "$folder/tmp"
