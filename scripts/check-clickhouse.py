#!/usr/bin/env python3
"""Checks that deploy/clickhouse/*.xml, deploy/clickhouse/compose.yaml and the manifests name the same servers, and that
ClickHouse's current engine reads the configuration. Exits with 3 if that engine (PyPI's chdb-core) is not installed."""

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

import yaml

folder = pathlib.Path("deploy/clickhouse")
server = ElementTree.parse(folder / "server.xml").getroot()
keeper = ElementTree.parse(folder / "keeper.xml").getroot()
compose = yaml.safe_load((folder / "compose.yaml").read_text())["services"]
manifests = pathlib.Path("deploy/kubernetes")
sets = {
    document["metadata"]["name"]: document["spec"]
    for document in yaml.safe_load_all((manifests / "clickhouse.yaml").read_text())
    if document["kind"] == "StatefulSet"
}
faults = []


def check(is_right, fault):
    if not is_right:
        faults.append(fault)


def variables(container):
    return {variable["name"]: variable.get("value") for variable in container["env"]}


def addresses(spec, port):
    """Returns the addresses of a StatefulSet's pods."""
    name = next(name for name, other in sets.items() if other is spec)
    start = spec.get("ordinals", {}).get("start", 0)
    ports = [each["containerPort"] for each in spec["template"]["spec"]["containers"][0]["ports"]]
    check(port in ports, f"{name}: no container listens on {port}")
    return {f"{name}-{start + number}.{spec['serviceName']}:{port}" for number in range(spec["replicas"])}


def composed(word, port, shard=None):
    """Returns the addresses of compose.yaml's services whose names begin with a word, of all shards or of one."""
    return {
        f"{service['networks']['default']['aliases'][0]}:{port}"
        for name, service in compose.items()
        if name.startswith(word) and shard in (None, service["environment"].get("SHARD"))
    }


def address(element, host="host"):
    return f"{element.findtext(host)}:{element.findtext('port')}"


# The macro {shard} of each server is the number of its shard in remote_servers.
shards = [[address(replica) for replica in shard.iter("replica")] for shard in server.find("remote_servers/fleet")]
of_shards = [spec for name, spec in sets.items() if name.startswith("clickhouse")]
check(len(shards) == len(of_shards), "server.xml and clickhouse.yaml have different numbers of shards")
for number, (shard, spec) in enumerate(zip(shards, of_shards)):
    container = spec["template"]["spec"]["containers"][0]
    check(variables(container)["SHARD"] == str(number), f"clickhouse.yaml: shard {number} has another SHARD")
    check(set(shard) == addresses(spec, 9000), f"server.xml and clickhouse.yaml: shard {number} has different servers")
    check(set(shard) == composed("clickhouse", 9000, number), f"compose.yaml: shard {number} has other servers")
    # The shards differ only in their number.
    text = json.dumps(spec).replace(f'"value": "{number}"', '"value": "0"').replace(f'"shard": "{number}"', '"shard": "0"')
    check(text == json.dumps(of_shards[0]), f"clickhouse.yaml: shard {number} is another than shard 0")

keepers = {address(node) for node in server.find("zookeeper").iter("node")}
check(keepers == addresses(sets["keeper"], 9181), "server.xml and clickhouse.yaml: different Keepers")
check(keepers == composed("keeper", 9181), "server.xml and compose.yaml: different Keepers")
raft = {int(each.findtext("id")): address(each, "hostname") for each in keeper.iter("server")}
check(set(raft.values()) == addresses(sets["keeper"], 9234), "keeper.xml and clickhouse.yaml: different Keepers")
for number, place in raft.items():
    check(place.startswith(f"keeper-{number}."), f"keeper.xml: Keeper {number} has the address of another")
    check(compose[f"keeper-{number}"]["environment"]["KEEPER_ID"] == number, f"compose.yaml: keeper-{number} has another KEEPER_ID")

# The collectors use the HTTP port of each server.
servers = {place.replace(":9000", ":8123") for shard in shards for place in shard}
for path in (manifests / "collectors.yaml", folder / "compose.yaml"):
    stores = set(re.findall(r"clickhouse:(http://\S+)/martlet", path.read_text()))
    check(len(stores) == 1, f"{path}: there are several stores")
    for store in stores:
        check({url.removeprefix("http://") for url in store.split(",")} == servers, f"{path}: the store has other servers")
    check("fleet" in path.read_text(), f"{path}: migrate has no cluster")

questions = """
import sys
from chdb import session
session = session.Session(f"{sys.argv[1]}/session?config-file={sys.argv[1]}/server.xml")
for sql in sys.argv[2:]:
    print(session.query(sql, "TSV").data().strip())
"""


def answers(*statements):
    """Returns the answers of ClickHouse's current engine, which has read the configuration."""
    variables = {"SHARD": "1", "HOSTNAME": "clickhouse-1-0", "CLICKHOUSE_PASSWORD": "a", "CLICKHOUSE_INTERSERVER_PASSWORD": "b"}
    with tempfile.TemporaryDirectory() as place:
        for name in ("server.xml", "users.xml"):
            text = (folder / name).read_text().replace("/var/lib/clickhouse", place)
            # The engine's own user is `default`.
            pathlib.Path(place, name).write_text(text.replace("<martlet>", "<default>").replace("</martlet>", "</default>"))
        pathlib.Path(place, "users.xml").write_text(
            re.sub("<password from_env=.*/>", "<password/>", pathlib.Path(place, "users.xml").read_text())
        )
        command = [sys.executable, "-c", questions, place, *statements]
        run = subprocess.run(command, cwd=place, env=os.environ | variables, capture_output=True, text=True)
        check(run.returncode == 0, f"ClickHouse's current engine refuses the configuration:\n{run.stderr[-2000:]}")
        return run.stdout.strip()


has_engine = importlib.util.find_spec("chdb") is not None
if has_engine:
    found = answers(
        "SELECT arrayStringConcat(arraySort(groupArray(concat(macro, '=', substitution))), ' ') FROM system.macros",
        "SELECT count(), uniqExact(shard_num), any(user) FROM system.clusters WHERE cluster = 'fleet'",
        # The engine's answers lack settings that it does not know.
        "SELECT count() FROM system.server_settings WHERE changed AND name IN "
        "('max_server_memory_usage_to_ram_ratio', 'mark_cache_size', 'max_partition_size_to_drop', 'tmp_path')",
        "SELECT count() FROM system.settings WHERE changed AND name IN "
        "('max_memory_usage', 'max_bytes_before_external_group_by', 'max_execution_time', 'log_queries')",
    )
    expected = f"replica=clickhouse-1-0 shard=1\n{len(servers)}\t{len(shards)}\tmartlet\n4\n4"
    check(found == expected, f"ClickHouse's current engine reads the configuration as\n{found}\nand not as\n{expected}")
sys.exit("\n".join(faults) or (None if has_engine else 3))
