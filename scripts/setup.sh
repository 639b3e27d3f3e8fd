#!/usr/bin/env bash
# Makes .venv from uv.lock and puts Delta's JARs into it. Safe to run again; says what to type where it cannot go on.
set -euo pipefail
cd "$(dirname "$0")/.."
unset VIRTUAL_ENV PYTHONHOME

say() { printf '%s\n' "$*"; }
fail() { printf '\n%s\n\n' "$*" >&2; exit 9; }

may_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }
apt_updated=
apt_install() {
    if [ -z "$apt_updated" ]; then apt-get update -qq >/dev/null; apt_updated=1; fi
    say "· installing $* (apt-get)"
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}
apt_has() { [ -n "$(apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: *\((none)\)\{0,1\}//p')" ]; }

# Java ------------------------------------------------------------------------------------------------------------

java_major() {
    local java=java
    if [ -n "${JAVA_HOME:-}" ]; then java=$JAVA_HOME/bin/java; fi
    # `|| true`: macOS has a java stub that fails where no Java is installed.
    { "$java" -version 2>&1 || true; } | sed -n 's/.* version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' | head -n 1
}
java_fits() { local major; major=$(java_major); [ "${major:-0}" -ge 17 ]; }

if ! java_fits && [ -z "${JAVA_HOME:-}" ] && may_install; then
    apt-get update -qq >/dev/null; apt_updated=1
    for package in openjdk-17-jre-headless openjdk-21-jre-headless; do
        if apt_has "$package"; then apt_install "$package"; break; fi
    done
fi
if ! java_fits; then
    major=$(java_major)
    fail "Spark needs Java 17 or newer; this machine has ${major:+Java }${major:-none}. Install it, then run make again:
  Debian, Ubuntu   sudo apt-get install -y openjdk-17-jre-headless      (Debian 13: openjdk-21-jre-headless)
  Fedora           sudo dnf install -y java-21-openjdk-headless
  macOS            brew install --cask temurin@17${JAVA_HOME:+
JAVA_HOME is $JAVA_HOME; unset it or let it point to the newer Java.}"
fi

# Python ----------------------------------------------------------------------------------------------------------

fits() { "$1" -c 'import sys; raise SystemExit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' >/dev/null 2>&1; }
can_make_venv() { "$1" -c 'import ensurepip, venv' >/dev/null 2>&1; }

find_python() {
    local candidate
    for candidate in ${PYTHON:+"$PYTHON"} python3.12 python3.11 python3.13 python3.14 python3; do
        if fits "$candidate" && "$1" "$candidate"; then printf '%s' "$candidate"; return; fi
    done
    return 1
}

if ! { [ -x .venv/bin/python ] && fits .venv/bin/python && .venv/bin/python -m pip --version >/dev/null 2>&1; }; then
    if ! python=$(find_python can_make_venv); then
        python=$(find_python true) || fail "Python 3.11, 3.12, 3.13 or 3.14 is needed, and none was found. Install it, then run make again:
  Debian, Ubuntu   sudo apt-get install -y python3 python3-venv
  Fedora           sudo dnf install -y python3.12
  macOS            brew install python@3.12
Where it has another name: make setup PYTHON=/path/to/python3"
        package=python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv
        if may_install; then
            apt_install "$package"
        else
            fail "$python cannot make virtual environments: its ensurepip module is missing. Install it, then run make again:
  Debian, Ubuntu   sudo apt-get install -y $package"
        fi
    fi
    say "· making .venv with $("$python" --version)"
    rm -rf .venv
    "$python" -m venv .venv
fi

# Packages --------------------------------------------------------------------------------------------------------

say "· installing the locked packages"
.venv/bin/python -m pip install --quiet --disable-pip-version-check "uv==0.13.9"
# What the system trusts counts, as for pip: a company's own certificate authority is known there only.
if [ -s /etc/ssl/certs/ca-certificates.crt ] || [ -s /etc/pki/tls/certs/ca-bundle.crt ]; then
    export UV_SYSTEM_CERTS=${UV_SYSTEM_CERTS:-true}
fi
# Compiled once: where Python may not write bytecode, every process of Airflow's would compile all it imports, for seconds.
UV_PROJECT_ENVIRONMENT=.venv UV_PYTHON_DOWNLOADS=never \
    .venv/bin/uv sync --frozen --all-extras --group dev --quiet --compile-bytecode --python .venv/bin/python
.venv/bin/python -m compileall -q ivm_core plugins

# Delta -----------------------------------------------------------------------------------------------------------

.venv/bin/python scripts/fetch_jars.py
.venv/bin/python scripts/archive_classes.py
say "✓ ready: .venv/bin/ivm --help"
