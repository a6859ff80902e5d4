#!/usr/bin/env bash
# image.sh PROGRAM FOLDER: the whole file system of an image that runs PROGRAM: the program itself, the C libraries that it
# is linked with, and a folder for what is temporary.
set -euo pipefail
program=$1
folder=$2

install -D -m 0755 "$program" "$folder/program"
strip "$folder/program"
# The loader is named by its path, libraries by what they were found as.
ldd "$program" | grep -oE '/[^ ]+' | sort -u | while read -r library; do
    install -D -m 0755 "$library" "$folder$library"
done
# What the resolver opens by name, where the machine that builds has it.
for library in /lib/*-linux-gnu/libnss_dns.so.2 /lib/*-linux-gnu/libnss_files.so.2 /lib/*-linux-gnu/libresolv.so.2; do
    [[ ! -e $library ]] || install -D -m 0755 "$library" "$folder$library"
done
# Certificates, for a command that asks another collector over HTTPS.
[[ ! -e /etc/ssl/certs/ca-certificates.crt ]] ||
    install -D -m 0644 /etc/ssl/certs/ca-certificates.crt "$folder/etc/ssl/certs/ca-certificates.crt"
install -d -m 1777 "$folder/tmp"
