#!/usr/bin/env bash
# Checks that a cluster of ClickHouse keeps rows as collectors need it. scripts/clickhouse-cluster.py runs this script with a
# cluster.
set -euo pipefail

IFS=, read -ra servers <<<"${MARTLET_COLLECTOR_STORE#clickhouse:}"
servers=("${servers[@]%/martlet}")

# ask SERVER STATEMENT [SETTINGS]
ask() {
    curl --silent --show-error --fail-with-body --max-time 30 -H "X-ClickHouse-User: $MARTLET_CLICKHOUSE_USER" \
        -H "X-ClickHouse-Key: $MARTLET_CLICKHOUSE_PASSWORD" "$1/?${3:-}" --data-binary "$2"
}

# expect WHAT EXPECTED FOUND
expect() {
    [[ $2 == "$3" ]] || { echo "$1: $3 instead of $2" >&2 && exit 1; }
}

for number in "${!servers[@]}"; do
    expect "the macros of server $number" "clickhouse-$((number / 2))-$((number % 2)),$((number / 2))" \
        "$(ask "${servers[number]}" "SELECT arrayStringConcat(groupArray(substitution), ',') FROM (SELECT * FROM system.macros ORDER BY macro)")"
    expect "without a password, the status of server $number" 401 \
        "$(curl --silent --output /dev/null --write-out '%{http_code}' "${servers[number]}/?query=SELECT+1")"
done
for statement in \
    "CREATE DATABASE checked ON CLUSTER fleet" \
    "CREATE TABLE checked.rows ON CLUSTER fleet (id UInt32) ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/checked/rows', '{replica}') ORDER BY id" \
    "CREATE TABLE checked.all ON CLUSTER fleet (id UInt32) ENGINE = Distributed(fleet, checked, rows, id)"; do
    ask "${servers[0]}" "$statement" >/dev/null
done
# A new replica announces itself to the others a moment later, and a quorum counts only replicas that have done so.
for server in "${servers[@]}"; do
    for ((attempt = 0; attempt < 100; attempt++)); do
        [[ $(ask "$server" "SELECT min(active_replicas) FROM system.replicas WHERE database = 'checked'") != 2 ]] || break
        sleep 0.1
    done
done
ask "${servers[0]}" "INSERT INTO checked.all SELECT number FROM system.numbers LIMIT 1000" "insert_distributed_sync=1&insert_quorum=2"
for server in "${servers[@]}"; do
    # Each replica has the rows of its shard: the quorum consisted of both.
    expect "the rows of $server" 500 "$(ask "$server" "SELECT count() FROM checked.rows")"
    expect "the rows of all shards, asked of $server" 1000 "$(ask "$server" "SELECT count() FROM checked.all")"
done
