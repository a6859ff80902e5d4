#!/usr/bin/env python3
"""Writes what the collector is made of: FOLDER/sbom.cdx.json, a bill of materials in CycloneDX, and FOLDER/licenses.

    contents.py SCRATCH-FOLDER VERSION GLIBC FOLDER

The list of linked objects names the modules, and the build's plan names the package of each module. SOURCE_DATE_EPOCH is the time
in the bill.
"""
import datetime
import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import uuid

LICENSE_FILE = re.compile(r"(LICEN[CS]E|NOTICE|COPYING).*", re.IGNORECASE)
# Debian's packages of the C libraries that are linked statically, and their licenses.
SYSTEM = [
    ("libsqlite3-dev", "sqlite", {"expression": "blessing"}),
    ("zlib1g-dev", "zlib", {"license": {"id": "Zlib"}}),
    ("libstdc++-[0-9]*-dev", "libstdc++", {"expression": "GPL-3.0-or-later WITH GCC-exception-3.1"}),
]


def output(*command):
    return subprocess.check_output(command, text=True).strip()


def linked_packages(release):
    """The folders of the packages whose modules are linked, by the names of their checkouts, and their source folders."""
    listed = (release / "martlet-collector.product/Objects.LinkFileList").read_text()
    linked = set(re.findall(r"/([^/]+)\.build/", listed))
    packages = {}
    for block in (release.parent.parent / "release.yaml").read_text().split("\n\n"):
        modules = set(re.findall(r"/release/([^/\"]+)\.build/", block)) & linked
        sources = set(re.findall(r"/checkouts/([^/\"]+/Sources/[^/\"]+)/", block))
        if len(modules) == 1 and len(sources) == 1:
            source = sources.pop()
            packages.setdefault(source.partition("/")[0], set()).add(source)
    return packages


def license_of(text):
    if "Runtime Library Exception" in text:
        return {"expression": "Apache-2.0 WITH Swift-exception"}
    if "Apache License" in text:
        return {"license": {"id": "Apache-2.0"}}
    assert "Permission is hereby granted, free of charge" in text, "an unknown license"
    return {"license": {"id": "MIT"}}


def copy_licenses(checkouts, name, sources, folder):
    """Copies the license files of a package and of its linked modules, and collects the notices in its C files."""
    folder.mkdir(parents=True)
    root = checkouts / name
    files = list(root.iterdir()) + [file for source in sorted(sources) for file in (checkouts / source).rglob("*")]
    found = [file for file in files if LICENSE_FILE.fullmatch(file.name) and file.is_file()]
    assert found, f"{name} has no license"
    for file in found:
        shutil.copyfile(file, folder / "-".join(file.relative_to(root).parts).removeprefix("Sources-"))
    notices = {notice(file) for file in files if file.suffix in {".c", ".cc", ".h", ".S"}} - {None}
    if notices:
        (folder / "notices-of-c-files.txt").write_text("\n\n--------\n\n".join(sorted(notices)) + "\n")
    return license_of("".join(file.read_text() for file in found if file.parent == root))


def notice(file):
    """The comment at the top of a C file, if it names a copyright."""
    text = file.read_text(errors="replace")
    comment = re.match(r"\s*((?://[^\n]*\n)+|/\*.*?\*/)", text, re.DOTALL)
    return comment[1].strip() if comment and "opyright" in comment[1] else None


def swift_packages(release, folder):
    checkouts = release.parent.parent / "checkouts"
    pins = {pin["identity"]: pin for pin in json.loads(pathlib.Path("Package.resolved").read_text())["pins"]}
    for name, sources in sorted(linked_packages(release).items()):
        pin = pins[name.lower()]
        version, place = pin["state"]["version"], pin["location"].removeprefix("https://").removesuffix(".git")
        component = {
            "type": "library", "bom-ref": pin["identity"], "name": name, "version": version,
            "licenses": [copy_licenses(checkouts, name, sources, folder / name)],
            "purl": f"pkg:swift/{place}@{version}",
            "externalReferences": [{"type": "vcs", "url": pin["location"], "comment": pin["state"]["revision"]}],
        }
        for hash_file in glob.glob(f"{checkouts}/{name}/Sources/C*BoringSSL/hash.txt"):
            commit = re.search(r"[0-9a-f]{40}", pathlib.Path(hash_file).read_text())[0]
            component["components"] = [
                {"type": "library", "bom-ref": f"{pin['identity']}-boringssl", "name": "boringssl", "version": commit}
            ]
        yield component


def toolchain(folder):
    version = re.search(r"swift-([\d.]+)-RELEASE|Swift version ([\d.]+)", output("swift", "--version"))
    version = version[1] or version[2]
    usr = pathlib.Path(shutil.which("swiftc")).resolve().parent.parent
    copy(usr / "share/swift/LICENSE.txt", folder / "swift/LICENSE.txt")
    yield {
        "type": "framework", "bom-ref": "swift", "name": "swift", "version": version,
        "description": "The runtime, the standard library, Dispatch and Foundation, linked statically",
        "licenses": [{"expression": "Apache-2.0 WITH Swift-exception"}],
        "purl": f"pkg:github/swiftlang/swift@swift-{version}-RELEASE",
    }
    # Foundation has ICU in it. Its license is the one that Debian's ICU has.
    copy(sorted(glob.glob("/usr/share/doc/libicu[0-9]*/copyright"))[0], folder / "icu/LICENSE.txt")
    members = output("ar", "t", str(usr / "lib/swift_static/linux/lib_FoundationICU.a"))
    assert "icu_packaged_data.cpp.o" in members
    yield {
        "type": "library", "bom-ref": "icu", "name": "swift-foundation-icu", "version": version,
        "description": "A part of Foundation; the data of languages except English is left out",
        "licenses": [{"license": {"id": "Unicode-3.0"}}],
    }


def copy(source, target):
    target.parent.mkdir(parents=True)
    shutil.copyfile(source, target)


def system_libraries(folder):
    for pattern, name, license in SYSTEM:
        found = output("dpkg-query", "--show", "--showformat=${Package} ${Version} ${source:Package} ${Status}\n", pattern)
        package, version, source = sorted(line for line in found.splitlines() if line.endswith(" installed"))[-1].split()[:3]
        copy(f"/usr/share/doc/{package}/copyright", folder / name / "LICENSE.txt")
        distribution = re.search(r"^ID=(\w+)", pathlib.Path("/etc/os-release").read_text(), re.MULTILINE)[1]
        yield {
            "type": "library", "bom-ref": name, "name": name, "version": version, "licenses": [license],
            "description": "Linked statically", "purl": f"pkg:deb/{distribution}/{package}@{version}?source={source}",
        }


def dependencies(known, scratch):
    """The edges between the linked packages."""
    tree = json.loads(output("swift", "package", "--scratch-path", str(scratch), "show-dependencies", "--format", "json"))
    edges = {}

    def visit(node):
        below = edges.setdefault(node["identity"], set())
        for child in node["dependencies"]:
            if child["identity"] in known:
                below.add(child["identity"])
            visit(child)

    visit(tree)
    root = edges[tree["identity"]] | {"swift", "icu", "glibc"} | {name for _, name, _ in SYSTEM}
    edges = {name: below for name, below in edges.items() if name in known}
    edges["martlet-collector"] = root
    return [{"ref": name, "dependsOn": sorted(below)} for name, below in sorted(edges.items())]


def main(scratch, version, glibc, folder):
    scratch, folder = pathlib.Path(scratch), pathlib.Path(folder)
    release = next(scratch.glob("*-linux-gnu/release"))
    components = list(swift_packages(release, folder / "licenses"))
    known = {component["bom-ref"] for component in components}
    components += list(toolchain(folder / "licenses")) + list(system_libraries(folder / "licenses"))
    components.append({
        "type": "library", "bom-ref": "glibc", "name": "glibc", "version": glibc,
        "description": "Linked dynamically, as libgcc is; this version or a later one",
    })
    commit = output("git", "rev-parse", "HEAD")
    time = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    bill = {
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'martlet-collector-{version}-{commit}')}",
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application", "bom-ref": "martlet-collector", "name": "martlet-collector", "version": version,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            },
            "properties": [{"name": "git.commit", "value": commit}],
        },
        "components": components,
        "dependencies": dependencies(known, scratch),
    }
    (folder / "sbom.cdx.json").write_text(json.dumps(bill, indent=2) + "\n")


main(*sys.argv[1:])
