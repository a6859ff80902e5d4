#!/usr/bin/env python3
"""Checks what no schema sees in deploy/kubernetes: that each name in one place of the manifests exists in the other."""

import pathlib
import re
import sys

import yaml

texts = {path.name: path.read_text() for path in sorted(pathlib.Path("deploy/kubernetes").glob("*.yaml"))}
documents = [document for text in texts.values() for document in yaml.safe_load_all(text)]
sets = [document for document in documents if document["kind"] in ("Deployment", "StatefulSet")]
claims = {document["metadata"]["name"] for document in documents if document["kind"] == "PersistentVolumeClaim"}
services = {
    document["metadata"]["name"]: document["spec"]
    for document in documents
    if document["kind"] == "Service"
}
faults = []


def check_names(names, known, where, what):
    faults.extend(f"{where}: there is no {what} {name}" for name in sorted(set(names) - set(known)))


def made_by_commands(text):
    """Returns the keys of each secret and configuration map that the commands in a manifest's comment create."""
    made = {}
    for kind, name, rest in re.findall(r"^#.* create (secret generic|secret tls|configmap) (\S+)(.*)", text, re.M):
        files = [pathlib.Path(file) for file in re.findall(r"--from-file=(\S+)", rest)]
        check_names([file for file in files if file.parent.name and not file.exists()], [], name, "file")
        keys = re.findall(r"--from-literal=(\w+)", rest) + [file.name for file in files]
        made[kind.split()[0], name] = ["tls.crt", "tls.key"] if kind == "secret tls" else keys
    return made


def used_keys(pod):
    """Returns the kind, name and keys of each secret and configuration map that a pod uses. Without keys the pod uses all."""
    for container in pod.get("initContainers", []) + pod["containers"]:
        for variable in container.get("env", []):
            for kind in ("secret", "configMap"):
                if reference := variable.get("valueFrom", {}).get(kind + "KeyRef"):
                    yield kind.lower(), reference["name"], [reference["key"]]
    for volume in pod["volumes"]:
        for kind, name in (("secret", "secretName"), ("configMap", "name")):
            if source := volume.get(kind):
                yield kind.lower(), source[name], [item["key"] for item in source.get("items", [])]


for text in texts.values():
    made = made_by_commands(text)
    for document in yaml.safe_load_all(text):
        if document in sets:
            for kind, name, keys in used_keys(document["spec"]["template"]["spec"]):
                where = f"{document['metadata']['name']}: the commands of the comment"
                check_names([name], [other for _, other in made], where, kind)
                check_names(keys, made.get((kind, name), keys), where + f" for {name}", "key")

for document in sets:
    name, pod = document["metadata"]["name"], document["spec"]["template"]
    if not document["spec"]["selector"]["matchLabels"].items() <= pod["metadata"]["labels"].items():
        faults.append(f"{name}: its selector does not select its pods")
    volumes = {volume["name"]: volume for volume in pod["spec"]["volumes"]}
    used = [volume["persistentVolumeClaim"]["claimName"] for volume in volumes.values() if "persistentVolumeClaim" in volume]
    check_names(used, claims, name, "claim")
    templates = [claim["metadata"]["name"] for claim in document["spec"].get("volumeClaimTemplates", [])]
    for container in pod["spec"]["containers"]:
        check_names([mount["name"] for mount in container["volumeMounts"]], [*volumes, *templates], name, "volume")
        probes = [value for key, value in container.items() if key.endswith("Probe")]
        ports = [port["name"] for port in container["ports"]]
        check_names([(probe.get("httpGet") or probe["tcpSocket"])["port"] for probe in probes], ports, name, "port")
    if document["kind"] == "StatefulSet":
        service = services.get(document["spec"]["serviceName"], {})
        if service.get("clusterIP") != "None" or not service["selector"].items() <= pod["metadata"]["labels"].items():
            faults.append(f"{name}: its service is not headless, or selects other pods")

for document in documents:
    if document["kind"] == "Service":
        selector = document["spec"]["selector"].items()
        targets = [each["spec"]["template"] for each in sets]
        targets = [pod for pod in targets if selector <= pod["metadata"]["labels"].items()]
        ports = [port["name"] for pod in targets for container in pod["spec"]["containers"] for port in container["ports"]]
        used = [port["targetPort"] for port in document["spec"]["ports"]]
        check_names(used, ports, f"the service {document['metadata']['name']}", "port")
    if document["kind"] == "PodDisruptionBudget":
        selector = document["spec"]["selector"]["matchLabels"].items()
        if not any(selector <= each["spec"]["template"]["metadata"]["labels"].items() for each in sets):
            faults.append(f"the budget {document['metadata']['name']} selects no pods")
sys.exit("\n".join(faults) or None)
