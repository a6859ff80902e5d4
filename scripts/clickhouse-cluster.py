#!/usr/bin/env python3
"""Runs a command with a cluster of ClickHouse on loopback, which deploy/clickhouse/*.xml configure.

    scripts/clickhouse-cluster.py COMMAND…

The files are used as they are, but with other hosts, ports and folders: all servers run on this machine. ZooKeeper replaces
Keeper. The command finds the cluster's addresses in MARTLET_COLLECTOR_STORE, user and password in MARTLET_CLICKHOUSE_USER and
MARTLET_CLICKHOUSE_PASSWORD, and the servers' folders in CLICKHOUSE_FOLDER. Everything ends with it. Needs Debian's
clickhouse-server and zookeeper. For example:

    scripts/clickhouse-cluster.py bash -c 'martlet-collector migrate --cluster fleet && martlet-collector serve'
"""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

configuration = pathlib.Path(__file__).resolve().parent.parent / "deploy/clickhouse"
zookeeper = pathlib.Path("/usr/share/java/zookeeper.jar")
password = "sesame"


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def wait_for(port, process):
    for _ in range(600):
        if process.poll() is not None:
            sys.exit(f"{process.args[0]} ended with {process.returncode}")
        try:
            return socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
    sys.exit(f"{process.args[0]} does not listen")


def start_zookeeper(folder, port):
    """Starts a ZooKeeper and waits until it takes sessions: ClickHouse 18.16 crashes in a session that is refused."""
    file = folder / "zoo.cfg"
    file.write_text(
        f"tickTime=1000\ndataDir={folder}/zookeeper\nclientPort={port}\nclientPortAddress=127.0.0.1\n"
        "admin.enableServer=false\nmaxClientCnxns=0\n"
    )
    command = ["java", "-Xmx256m", "-cp", zookeeper, "org.apache.zookeeper.server.quorum.QuorumPeerMain", file]
    with (folder / "zookeeper.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    wait_for(port, process)
    for _ in range(100):
        with socket.create_connection(("127.0.0.1", port), 1) as connection:
            connection.sendall(b"srvr")
            if b"Mode:" in connection.recv(65536):
                return process
        time.sleep(0.1)
    sys.exit("ZooKeeper takes no sessions")


def on_loopback(tree, folder, ports, tcp_ports, zookeeper_port):
    """Changes what differs on another machine: hosts, ports and folders."""
    for replica in tree.iter("replica"):
        host = replica.find("host")
        if host is not None:
            replica.find("port").text = str(tcp_ports[host.text])
            host.text = "127.0.0.1"
    for node in tree.iter("node"):
        node.find("host").text, node.find("port").text = "127.0.0.1", str(zookeeper_port)
    tree.find("listen_host").text = "127.0.0.1"
    for name, port in ports.items():
        tree.find(name).text = str(port)
    ElementTree.SubElement(tree, "interserver_http_host").text = "127.0.0.1"
    for element in tree.iter():
        if element.text and element.text.startswith("/var/lib/clickhouse/"):
            element.text = element.text.replace("/var/lib/clickhouse", str(folder))


def start_server(folder, name, shard, *places):
    folder.mkdir()
    tree = ElementTree.parse(configuration / "server.xml")
    on_loopback(tree.getroot(), folder, *places)
    tree.write(folder / "server.xml")
    shutil.copy(configuration / "users.xml", folder)
    environment = os.environ | {
        "SHARD": str(shard),
        "HOSTNAME": name,
        "CLICKHOUSE_PASSWORD": password,
        "CLICKHOUSE_INTERSERVER_PASSWORD": password + password,
    }
    program = shutil.which("clickhouse-server", path=os.environ.get("PATH", "") + ":/usr/sbin")
    with (folder / "log").open("w") as log:
        return subprocess.Popen(
            [program, f"--config-file={folder}/server.xml"], stdout=log, stderr=log, cwd=folder, env=environment
        )


def run(command, folder, processes):
    root = ElementTree.parse(configuration / "server.xml").getroot()
    shards = [
        [replica.findtext("host") for replica in shard.iter("replica")] for shard in root.find("remote_servers/fleet")
    ]
    hosts = [host for shard in shards for host in shard]
    ports = free_ports(3 * len(hosts) + 1)
    processes.append(start_zookeeper(folder, ports[-1]))
    kinds = ["http_port", "tcp_port", "interserver_http_port"]
    ports_of = {host: dict(zip(kinds, ports[3 * number :])) for number, host in enumerate(hosts)}
    tcp_ports = {host: ports_of[host]["tcp_port"] for host in hosts}
    for number, shard in enumerate(shards):
        for host in shard:
            name = host.split(".")[0]
            server = start_server(folder / name, name, number, ports_of[host], tcp_ports, ports[-1])
            processes.append(server)
    for host, server in zip(hosts, processes[-len(hosts) :]):
        wait_for(ports_of[host]["http_port"], server)
    addresses = ",".join(f"http://127.0.0.1:{ports_of[host]['http_port']}" for host in hosts)
    environment = os.environ | {
        "MARTLET_COLLECTOR_STORE": f"clickhouse:{addresses}/martlet",
        "MARTLET_CLICKHOUSE_USER": "martlet",
        "MARTLET_CLICKHOUSE_PASSWORD": password,
        "CLICKHOUSE_FOLDER": str(folder),
    }
    return subprocess.run(command, env=environment).returncode


signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
with tempfile.TemporaryDirectory(prefix="martlet-cluster-", dir=memory) as folder:
    processes = []
    try:
        status = run(sys.argv[1:], pathlib.Path(folder), processes)
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()
sys.exit(status)
