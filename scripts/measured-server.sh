# Source this file for a folder for temporary files, `work`, and for at most one measured server at a time, `server`. Both are
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

# start_collector COLLECTOR STORE: starts a collector on a free port, and sets `address` when it takes requests.
start_collector() {
    rm -f "$work/address"
    "$1" serve --port 0 --store "sqlite:$2" >"$work/address" &
    server=$!
    # kill -0 fails and ends the script if the collector has ended.
    until [[ -s $work/address ]]; do
        kill -0 "$server"
        sleep 0.1
    done
    address=$(grep -o 'http://[^ ]*' "$work/address")
}

# Prints the CPU time of the server so far, all threads, in ticks: fields 14 and 15 of proc(5), counted behind the name.
cpu_ticks() {
    sed 's/.*) //' "/proc/$server/stat" | awk '{ print $12 + $13 }'
}

# Prints the server's peak memory in MiB.
peak_memory() {
    awk '/VmHWM/ { print int($2 / 1024) }' "/proc/$server/status"
}
