#!/usr/bin/env bash
# Checks that code which runs inside a service cannot trap, and that its background work has an owner.
set -euo pipefail
cd "$(dirname "$0")/.."

forbidden='try!|\bas!|\bfatalError\(|\bprecondition\(|\bpreconditionFailure\(|\bTask \{|\bTODO\b'
if grep -rnE "$forbidden" Sources --include='*.swift' --include='*.c' --include='*.h' --exclude-dir=Generated; then
    echo "Sources/ must not contain the lines above: they can trap, or leave work without an owner." >&2
    exit 1
fi

# The probe of the cooperative pool is a task, because only a task reaches the pool's own queue.
if grep -rn 'Task\.detached' Sources --include='*.swift' --exclude=DelayProbes.swift; then
    echo "Only DelayProbes.swift may make a task without an owner." >&2
    exit 1
fi

# A service that is developed on a Mac uses the same names as on Linux.
for file in $(grep -rlE '^\s+(public|open) ' Sources/Martlet --include='*.swift'); do
    if head -1 "$file" | grep -q '#if os(Linux)'; then
        echo "$file has public names that exist on Linux only." >&2
        exit 1
    fi
done

# Synchronization's Mutex traps in a forked child, so the library uses Lock and ProcessLock.
if grep -rnE '\bMutex[<(]' Sources/Martlet --include='*.swift'; then
    echo "Sources/Martlet must use Lock or ProcessLock instead of Mutex." >&2
    exit 1
fi

# A file holds one concept (CONTRIBUTING.md): few files are tiny, and none is too long to read through.
find Sources Collector -name '*.swift' -not -path '*/Generated/*' -exec wc -l {} + | awk '
    $2 == "total" { next }
    { files++ }
    $1 <= 30 { tiny = tiny "\n    " $2; count++ }
    $1 > 600 { print $2 " has " $1 " lines; 600 is the limit."; failed = 1 }
    END {
        if (count > files * 0.12) {
            printf "%d of %d files have 30 lines or fewer; 12 %% is the limit:%s\n", count, files, tiny
            failed = 1
        }
        exit failed
    }' >&2

# One file has the version. Documents and manifests name it in the names of packages and images.
version=$(sed -n 's/.* current = "\(.*\)"/\1/p' Sources/MartletTelemetry/MartletVersion.swift)
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || { echo "MartletVersion.swift has no version such as 1.2.3." >&2; exit 1; }
if git grep -nEo 'martlet-collector[-_:][0-9]+\.[0-9]+\.[0-9]+' -- '*.md' deploy | grep -vE ":martlet-collector[-_:]${version//./\\.}$"; then
    echo "The lines above name another version than MartletVersion.swift, $version." >&2
    exit 1
fi
if git grep -nF "\"$version\"" -- Sources Collector Package.swift ':!Sources/MartletTelemetry/MartletVersion.swift'; then
    echo "The lines above repeat the version; use MartletVersion.current." >&2
    exit 1
fi
