#!/usr/bin/env bash
# Checks that the programs which read the files in deploy/ accept them. Needs `scripts/setup.sh test`.
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
    # systemd wants an existing program, and the administrator installs ours.
    sed 's|^ExecStart=/usr/local/bin/martlet-collector|ExecStart=/bin/true|' deploy/systemd/martlet-collector.service >"$unit"
    systemd-analyze verify "$unit" || fail "systemd does not accept the unit."
    # The threshold is in tenths: 0.0 is closed, 10.0 is open. The unit has to allow sockets and the network.
    systemd-analyze security --offline=yes --threshold=15 "$unit" >"$work/security" ||
        fail "The unit allows more than the collector needs:"$'\n'"$(<"$work/security")"
}

check_environment_file() {
    ! grep -vE '^(#.*|[A-Z_]+=.*)?$' deploy/systemd/martlet-collector.env ||
        fail "These lines of martlet-collector.env are neither comments nor variables."
}

# Checks that every service is built or has an image that another service builds, and that its dependencies exist.
check_compose() {
    .build/python/bin/python - deploy/compose.yaml <<'PYTHON'
import sys
import yaml

services = yaml.safe_load(open(sys.argv[1]))["services"]
built = {service["image"] for service in services.values() if "build" in service}
for name, service in services.items():
    assert service["image"] in built, f"{name}: nothing builds {service['image']}"
    for other in service.get("depends_on", []):
        assert other in services, f"{name} depends on {other}, which does not exist"
PYTHON
}

# Checks that the first stage of the image copies the folder of every target of the manifest.
check_container_file() {
    local source=$work/source from to
    while read -r _ from to; do
        mkdir -p "$source/$(dirname "$to")"
        # shellcheck disable=SC2086 # `Package.*` are several.
        cp -R $from "$source/$to"
    done < <(awk '$1 == "FROM" { stages++ } stages == 1 && $1 == "COPY"' deploy/container/Containerfile)
    swift package --package-path "$source" describe >/dev/null ||
        fail "The image cannot be built from the files that are copied into it."
}

promtool() {
    .build/prometheus/usr/bin/promtool "$@" >"$work/promtool" 2>&1 || fail "$(<"$work/promtool")"
}

# Checks the configuration with its rules, runs the rules' tests, and checks that every alert is tested and says what to do.
check_prometheus() {
    promtool check config deploy/prometheus/prometheus.yml
    promtool test rules deploy/prometheus/rules.test.yml
    .build/python/bin/python scripts/check-alerts.py
}

# Lets promtool parse every expression of the dashboard, as rules.
check_dashboard() {
    .build/python/bin/python scripts/dashboard-rules.py deploy/grafana/martlet.json >"$work/dashboard.json"
    promtool check rules "$work/dashboard.json"
}

# Checks the manifests against Kubernetes' own schemas, and that they fit each other.
check_kubernetes() {
    .build/python/bin/python scripts/check-manifests.py
    .build/python/bin/python -c 'import kubernetes_validate' 2>/dev/null || {
        echo "NOT CHECKED: kubernetes-validate is not installed; no schema was compared with deploy/kubernetes/*.yaml." >&2
        return
    }
    .build/python/bin/python -m kubernetes_validate --strict --quiet deploy/kubernetes/*.yaml ||
        fail "Kubernetes does not accept the manifests."
}

check_unit
check_environment_file
check_compose
check_container_file
check_prometheus
check_dashboard
check_kubernetes
bash -n deploy/container/image.sh
