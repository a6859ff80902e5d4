# Sourced: a folder for temporary files, `work`, and at most one server at a time, `server`, whose cost is asked for. Both are
# gone when the script ends.
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

# start_collector COLLECTOR STORE: a collector on a free port, whose address is in `address` when it takes requests.
start_collector() {
    rm -f "$work/address"
    "$1" serve --port 0 --store "sqlite:$2" >"$work/address" &
    server=$!
    # Ends the script where the collector has ended.
    until [[ -s $work/address ]]; do
        kill -0 "$server"
        sleep 0.1
    done
    address=$(grep -o 'http://[^ ]*' "$work/address")
}

# CPU time of the server so far, all threads, in ticks: fields 14 and 15 of proc(5), counted behind the name.
cpu_ticks() {
    sed 's/.*) //' "/proc/$server/stat" | awk '{ print $12 + $13 }'
}

# The most memory that it ever had, in MiB.
peak_memory() {
    awk '/VmHWM/ { print int($2 / 1024) }' "/proc/$server/status"
}
