#!/bin/sh
# Installs DuckDB, which reads what export writes, in DIR. Debian has no package of it, and
# does not let pip add to its own Python, so it gets an environment of its own.
set -eu
[ $# = 1 ] || { echo "usage: $0 DIR" >&2; exit 2; }
[ -z "$(find "$1" -type f ! -name '*.pyc' 2>/dev/null | head -n 1)" ] ||
	{ echo "$0: $1 holds files, which are left alone: name a new directory" >&2; exit 1; }
echo "fetching DuckDB (25 MB)" >&2
/usr/bin/python3 -m venv "$1"
"$1/bin/pip" install -q --only-binary :all: duckdb==2.0.0
