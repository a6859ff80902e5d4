#!/usr/bin/env python3
"""Checks what no schema sees in deploy/kubernetes: that names in one place of the manifests exist in the other."""

import pathlib
import sys

import yaml

documents = [
    document
    for path in sorted(pathlib.Path("deploy/kubernetes").glob("*.yaml"))
    for document in yaml.safe_load_all(path.read_text())
]
pods = {
    document["metadata"]["name"]: document["spec"]["template"]
    for document in documents
    if document["kind"] == "Deployment"
}
claims = {document["metadata"]["name"] for document in documents if document["kind"] == "PersistentVolumeClaim"}
faults = []


def check_names(names, known, where, what):
    faults.extend(f"{where}: there is no {what} {name}" for name in sorted(set(names) - set(known)))


for name, pod in pods.items():
    volumes = {volume["name"]: volume for volume in pod["spec"]["volumes"]}
    used = [volume["persistentVolumeClaim"]["claimName"] for volume in volumes.values() if "persistentVolumeClaim" in volume]
    check_names(used, claims, name, "claim")
    for container in pod["spec"]["containers"]:
        check_names([mount["name"] for mount in container["volumeMounts"]], volumes, name, "volume")
        probes = [value for key, value in container.items() if key.endswith("Probe")]
        ports = [port["name"] for port in container["ports"]]
        check_names([probe["httpGet"]["port"] for probe in probes], ports, name, "port")

for document in documents:
    if document["kind"] == "Service":
        selector = document["spec"]["selector"].items()
        targets = [pod for pod in pods.values() if selector <= pod["metadata"]["labels"].items()]
        ports = [port["name"] for pod in targets for container in pod["spec"]["containers"] for port in container["ports"]]
        used = [port["targetPort"] for port in document["spec"]["ports"]]
        check_names(used, ports, f"the service {document['metadata']['name']}", "port")
sys.exit("\n".join(faults) or None)
