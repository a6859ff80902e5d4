#!/usr/bin/env bash
# Makes the file system of the container's image and runs it as an engine would: as its user, with a read-only root, and with a
# separate volume. Checks its health, its store and its stop.
#
#     scripts/dist/check-container.sh BARE-DEBIAN ARCHIVE-FOLDER
#
# The base image is made up from the packages of a bare Debian that it consists of. Needs root.
set -euo pipefail
debian=$1
archive=$2
file=$archive/Containerfile

fail() {
    echo "$1" >&2
    exit 1
}

# instruction NAME: prints what follows an instruction of the file.
instruction() {
    sed -n "s/^$1 //p" "$file"
}

if [[ -z ${image:-} ]]; then
    export image
    image=$(mktemp -d -p /var/tmp martlet-image.XXXXXX)
    chmod 0755 "$image"
    trap 'rm -rf --one-file-system "$image"' EXIT
    unshare --mount --net --pid --fork --kill-child "$0" "$@"
    exit
fi

mkdir -p "$image"/usr/{bin,lib,lib64,sbin}
chroot "$debian" dpkg --listfiles libc6 libgcc-s1 base-files tzdata | sort -u |
    tar --create --directory "$debian" --no-recursion --files-from <(sed 's|^/||; /^\.$/d') | tar --extract --directory "$image"
while read -r owner from to; do
    [[ $owner == --chown=* ]] || { to=$from from=$owner owner=--chown=0:0; }
    [[ -e $archive/$from ]] || fail "The archive has no $from, which the Containerfile copies."
    mkdir -p "$image/$(dirname "$to")"
    cp -r --preserve=mode "$archive/$from" "$image/$to"
    chown -R "${owner#--chown=}" "$image/$to"
done < <(instruction COPY)

volume=$(instruction VOLUME)
ip link set lo up
mount --bind "$image" "$image"
mount -t proc proc "$image/proc"
mount --bind "$image$volume" "$image$volume"
mount -o remount,bind,ro "$image"

# run COMMAND…: becomes a command in the image, so it needs a subshell.
run() {
    # shellcheck disable=SC2046 # The variables are separate words.
    exec env -i $(instruction ENV) "$(command -v chroot)" --userspec="$(instruction USER)" --groups= "$image" "$@"
}

entry=$(instruction ENTRYPOINT | tr -d '[]",')
mapfile -t health < <(sed -n 's/^HEALTHCHECK .*CMD \[\(.*\)\]/\1/p' "$file" | tr -d '" ' | tr , '\n')
(run "$entry" $(instruction CMD | tr -d '[]",') >"$image$volume/log" 2>&1) &
collector=$!
for ((tries = 0; ; tries++)); do
    ! (run "${health[@]}" >/dev/null 2>&1) || break
    ((tries < 100)) || fail "The container is not healthy: $(<"$image$volume/log")"
    sleep 0.1
done
[[ $(stat --format %u "$image$volume/collector.sqlite") == "$(instruction USER | cut -d : -f 1)" ]] || fail "The store is not the user's."
! (run /bin/sh -c true 2>/dev/null) || fail "The image has a shell."
kill "$collector"
wait "$collector" || fail "The collector stopped with status $?."
echo "The container's files: healthy as user $(instruction USER) with a read-only root, and stopped with status 0."
