#!/usr/bin/env bash
# Checks that everything the build needs is installed, and installs what is missing with apt-get.
#
# `dist` adds Python and what makes packages. `demo` adds Python, and the OpenTelemetry SDK for Python if it is available.
# `check` and `test` add Python and libcurl's headers. `test` also adds that SDK, nginx and OpenSSL. `verify` adds the needs of
# all other tests: curl, a list of English words, Chromium and systemd's checks; check-jsonschema, PyYAML, Schemathesis and
# Selenium in .build/python; Debian's Prometheus in .build/prometheus. If they are available, it also adds ClickHouse, ZooKeeper
# for a ClickHouse cluster, PostgreSQL, and in .build/python ClickHouse's current engine, kubernetes-validate, and psycopg with
# OpenTelemetry's instrumentation.
set -euo pipefail

fail() {
    echo "$1" >&2
    exit 1
}

require_swift() {
    command -v swift >/dev/null || fail "Martlet needs Swift 6.2 or later, and there is no swift on the PATH: https://swift.org/install"
    local version
    version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9.]*\).*/\1/p' | head -n 1)
    [[ $(printf '%s\n' 6.2 "$version" | sort -V | head -n 1) == 6.2 ]] ||
        fail "Martlet needs Swift 6.2 or later; this is Swift $version: https://swift.org/install"
}

# Asks the compiler of the build for the header, because it knows the header folders of this machine.
has_header() {
    echo "#include <$1>" | clang -fsyntax-only -x c - 2>/dev/null
}

missing_packages() {
    command -v make >/dev/null || echo make
    has_header zlib.h || echo zlib1g-dev
    has_header sqlite3.h || echo libsqlite3-dev
    if [[ $1 == dist ]]; then
        command -v objcopy >/dev/null || echo binutils
        command -v python3 >/dev/null || echo python3
    fi
    [[ -n $1 && $1 != demo && $1 != dist ]] || return 0
    has_header curl/curl.h || echo libcurl4-openssl-dev
    python3 -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
    [[ $1 != check ]] || return 0
    PATH=$PATH:/usr/sbin command -v nginx >/dev/null || echo nginx-light
    command -v openssl >/dev/null || echo openssl
    [[ $1 == verify ]] || return 0
    local program
    [[ -r /usr/share/dict/words ]] || echo wamerican
    for program in curl chromium chromedriver systemd-analyze; do
        PATH=$PATH:/usr/sbin command -v "$program" >/dev/null && continue
        case $program in
            chromedriver) echo chromium-driver ;;
            systemd-analyze) echo systemd ;;
            *) echo "$program" ;;
        esac
    done
}

apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=5)
((EUID == 0)) || apt=(sudo "${apt[@]}")

# install PACKAGE…: installs packages without starting their services, because the tests start servers themselves.
install() {
    command -v apt-get >/dev/null && command -v "${apt[0]}" >/dev/null || return
    local policy=/usr/sbin/policy-rc.d as_root=() status=0
    ((EUID == 0)) || as_root=(sudo)
    if [[ -e $policy ]]; then
        policy=
    else
        printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null && "${as_root[@]}" chmod +x "$policy"
    fi
    "${apt[@]}" update && "${apt[@]}" install --yes --no-install-recommends "$@" >/dev/null || status=$?
    [[ -z $policy ]] || "${as_root[@]}" rm "$policy"
    return "$status"
}

# install_python_packages MODULES PACKAGE…: installs packages in .build/python unless the modules can be imported.
install_python_packages() {
    local python=.build/python/bin/python modules=$1
    shift
    "$python" -c "import $modules" 2>/dev/null && return
    echo "Installing ${*%%[~ ]*} in .build/python"
    { [[ -x $python ]] || python3 -m venv .build/python; } &&
        "$python" -m pip install --quiet --retries 10 --disable-pip-version-check "$@"
}

install_clickhouse() {
    local program
    for program in clickhouse-server clickhouse; do
        ! PATH=$PATH:/usr/sbin command -v "$program" >/dev/null || return 0
    done
    echo "Installing clickhouse-server"
    install clickhouse-server
}

has_zookeeper() {
    [[ -r /usr/share/java/zookeeper.jar ]] && command -v java >/dev/null
}

has_postgresql() {
    compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null
}

opentelemetry=('opentelemetry-sdk~=1.38' 'opentelemetry-exporter-otlp-proto-http~=1.38')
opentelemetry_modules='opentelemetry.sdk, opentelemetry.exporter.otlp.proto.http'

# Debian after 12 has a separate package for promtool.
download_prometheus() {
    apt-get -qq download prometheus && { ! apt-cache show promtool >/dev/null || apt-get -qq download promtool; }
}

# Unpacks the package instead of installing it, because the installation would start a server.
unpack_prometheus() {
    local folder=.build/prometheus
    [[ ! -x $folder/usr/bin/promtool ]] || return 0
    echo "Unpacking Debian's Prometheus in $folder"
    mkdir -p "$folder"
    (
        cd "$folder" && rm -f ./*.deb &&
            { download_prometheus 2>/dev/null || { "${apt[@]}" update && download_prometheus; }; } &&
            for package in ./*.deb; do dpkg -x "$package" . || exit; done && rm ./*.deb
    )
}

install_verify() {
    install_python_packages 'check_jsonschema, yaml, schemathesis, selenium' \
        'check-jsonschema~=0.39' 'PyYAML~=6.0' 'schemathesis~=4.5' 'selenium~=4.30' ||
        fail "A package of PyPI could not be installed."
    unpack_prometheus || fail "Please put Prometheus and promtool into .build/prometheus/usr/bin and try again."
    install_clickhouse ||
        echo "!!!!!!!! NO CLICKHOUSE: clickhouse-server could not be installed; the tests of the store on it are left out. !!!!!!!!"
    # The schemas of Kubernetes are large. Without them scripts/check-deploy.sh says what it did not check.
    install_python_packages kubernetes_validate 'kubernetes-validate~=1.34' || echo "kubernetes-validate could not be installed."
    # The package starts no service. Debian's zookeeperd would.
    has_zookeeper || { echo "Installing zookeeper" && install zookeeper; } ||
        echo "!!!!!!!! NO ZOOKEEPER: zookeeper could not be installed; no cluster of ClickHouse is tested. !!!!!!!!"
    # Each version of the instrumentation needs one version of the SDK, so pip chooses both. With bounds for the SDK it may find none.
    { has_postgresql || { echo "Installing postgresql" && install postgresql; }; } &&
        install_python_packages "$opentelemetry_modules, opentelemetry.instrumentation.psycopg, psycopg_binary" \
            opentelemetry-instrumentation-psycopg 'psycopg[binary]~=3.2' opentelemetry-{sdk,exporter-otlp-proto-http} ||
        echo "!!!!!!!! NO POSTGRESQL: postgresql or psycopg could not be installed; no calls of a database are compared. !!!!!!!!"
    install_python_packages chdb.session 'chdb-core~=26.9' ||
        echo "!!!!!!!! NO CHDB: chdb-core could not be installed; nothing is tested on a current ClickHouse. !!!!!!!!"
}

cd "$(dirname "$0")/.."
require_swift
needs=${1:-}
mapfile -t packages < <(missing_packages "$needs")
if ((${#packages[@]} > 0)); then
    echo "Installing ${packages[*]}"
    install "${packages[@]}" || fail "Please install ${packages[*]} (Debian's names) and try again."
fi
case $needs in
    demo)
        # If its needs are not available, the demo runs without the Python service.
        python3 -c 'import ensurepip, venv' 2>/dev/null || install python3-venv || true
        install_python_packages "$opentelemetry_modules" "${opentelemetry[@]}" || true
        ;;
    test | verify)
        install_python_packages "$opentelemetry_modules" "${opentelemetry[@]}" ||
            fail "The OpenTelemetry SDK for Python could not be installed from PyPI."
        ;;
esac
[[ $needs != verify ]] || install_verify
