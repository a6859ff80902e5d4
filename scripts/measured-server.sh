# Source this file for `work`, a folder for temporary files, and `server`, at most one measured server at a time. Both are
# removed when the script ends.
work=$(mktemp -d)
server=

end_server() {
    [[ -z $server ]] || { kill "$server" && wait "$server"; } || true
    server=
}

finish() {
    end_server
    rm -rf "$work"
}
trap finish EXIT

# start_collector COLLECTOR STORE: starts a collector on a free port, and sets `address` once it takes requests.
start_collector() {
    rm -f "$work/address"
    "$1" serve --port 0 --store "sqlite:$2" >"$work/address" &
    server=$!
    # If the collector has ended, kill -0 fails and ends the script.
    until [[ -s $work/address ]]; do
        kill -0 "$server"
        sleep 0.1
    done
    address=$(grep -o 'http://[^ ]*' "$work/address")
}

# Prints the server's CPU time so far, all threads, in ticks: fields 14 and 15 of proc(5), counted after the name.
cpu_ticks() {
    sed 's/.*) //' "/proc/$server/stat" | awk '{ print $12 + $13 }'
}

# Prints the server's peak memory in MiB.
peak_memory() {
    awk '/VmHWM/ { print int($2 / 1024) }' "/proc/$server/status"
}
