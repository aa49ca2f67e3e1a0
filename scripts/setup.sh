#!/bin/sh
# Installs what the tests need beside Go: a browser to open the report in, the
# servers that the engines run on, the libraries of native engines, the programs
# that rumbench is compared with (pgbench comes with PostgreSQL's server), a C
# compiler for those engines and for Go's race detector, ext4 on a loop device, a
# strict reader of what Prometheus is given, and DuckDB. It starts no server.
set -eu
missing=
need() { # PACKAGE COMMAND: the package is missing where the command fails
	pkg=$1
	shift
	"$@" >/dev/null 2>&1 || missing="$missing $pkg"
}
need chromium sh -c 'command -v chromium || command -v google-chrome'
need gcc command -v gcc
need libc6-dev test -e /usr/include/stdlib.h
need mariadb-server test -x /usr/sbin/mariadbd
need mariadb-plugin-rocksdb test -e /usr/lib/mysql/plugin/ha_rocksdb.so
need postgresql sh -c 'ls /usr/lib/postgresql/*/bin/postgres'
need sysbench command -v sysbench
need python3-prometheus-client /usr/bin/python3 -c 'import prometheus_client'
need python3-venv /usr/bin/python3 -c 'import ensurepip, venv'
need rocksdb-tools command -v db_bench
need libwiredtiger-dev test -e /usr/include/wiredtiger.h
need tarantool test -x /usr/bin/tarantool
need e2fsprogs test -x /sbin/mkfs.ext4
need mount test -x /bin/mount
need maven command -v mvn
need ca-certificates test -e /etc/ssl/certs/ca-certificates.crt
need unzip command -v unzip
need g++ command -v g++
need cmake command -v cmake
need ninja-build command -v ninja
need zlib1g-dev test -e /usr/include/zlib.h
need libsnappy-dev test -e /usr/include/snappy-c.h
need liblz4-dev test -e /usr/include/lz4.h
need libzstd-dev test -e /usr/include/zstd.h
as_root=
[ "$(id -u)" = 0 ] || as_root=sudo
if [ -n "$missing" ]; then
	echo "installing for the tests:$missing" >&2
	$as_root apt-get update -q
	# The packages of the servers would start one each, of which the tests know nothing.
	policy=/usr/sbin/policy-rc.d
	if [ ! -e $policy ]; then
		printf '#!/bin/sh\nexit 101\n' | $as_root tee $policy >/dev/null
		$as_root chmod 755 $policy
		trap '$as_root rm -f $policy' EXIT
	fi
	# shellcheck disable=SC2086 # a list of packages
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
fi
# An old release of MySQL, to compare with: every user who runs servers must get at it.
[ -x /opt/mysql-5.5.9/bin/mysqld ] || $as_root "$(dirname "$0")/mysql-5.5.9.sh" /opt/mysql-5.5.9
# What is built or unpacked here is this user's to write.
[ -w /opt/rumbench ] || {
	$as_root mkdir -p /opt/rumbench
	$as_root chown "$(id -u)" /opt/rumbench
}
# The libraries of native engines: a new and an old version of each.
"$(dirname "$0")/rocksdb.sh" 6.29.5 11.8.1
"$(dirname "$0")/wiredtiger.sh" 3.2.1 11.3.1
# What answers MongoDB's protocol in tests.
"$(dirname "$0")/ferretdb.sh"
# DuckDB reads what export writes. Debian has no package of it, and does not let
# pip add to its own Python, so it gets an environment of its own.
duckdb=/opt/rumbench-duckdb
if ! $duckdb/bin/python -c 'import duckdb' 2>/dev/null; then
	echo "fetching DuckDB (25 MB)" >&2
	# shellcheck disable=SC2016 # $1 is for the other shell
	$as_root sh -euc 'umask 022
		/usr/bin/python3 -m venv --clear "$1"
		"$1/bin/pip" install -q --only-binary :all: duckdb==2.0.0' sh $duckdb
fi
