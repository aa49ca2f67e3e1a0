#!/bin/sh
# Installs what the tests need beside Go: a browser to open the report in, the
# servers that the engines run on, proxies in front of them, the libraries of native engines, the programs
# that rumbench is compared with (pgbench comes with PostgreSQL's server), a C
# compiler for those engines and for Go's race detector, ext4 on a loop device, a
# strict reader of what Prometheus is given, Slurm and DuckDB. It starts no server.
set -eu
missing=
need() { # PACKAGE COMMAND: the package is missing where the command fails
	pkg=$1
	shift
	"$@" >/dev/null 2>&1 || missing="$missing $pkg"
}
need chromium sh -c 'command -v chromium || command -v chromium-browser || command -v google-chrome'
need gcc command -v gcc
need libc6-dev test -e /usr/include/stdlib.h
need mariadb-server test -x /usr/sbin/mariadbd
need mariadb-plugin-rocksdb test -e /usr/lib/mysql/plugin/ha_rocksdb.so
need galera-4 test -e /usr/lib/galera/libgalera_smm.so
need rsync command -v rsync
need postgresql sh -c 'ls /usr/lib/postgresql/*/bin/postgres'
need pgbouncer test -x /usr/sbin/pgbouncer
need haproxy test -x /usr/sbin/haproxy
need sysbench command -v sysbench
need python3-prometheus-client /usr/bin/python3 -c 'import prometheus_client'
need python3-venv /usr/bin/python3 -c 'import ensurepip, venv'
need rocksdb-tools command -v db_bench
need libwiredtiger-dev test -e /usr/include/wiredtiger.h
need tarantool test -x /usr/bin/tarantool
need e2fsprogs test -x /sbin/mkfs.ext4
need mount test -x /bin/mount
need maven command -v mvn
need openssh-server test -x /usr/sbin/sshd
need iproute2 test -x /usr/sbin/ip
need podman test -x /usr/bin/podman
need runc test -x /usr/sbin/runc
need xz-utils command -v xz
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
	for tool in apt-get $as_root; do
		command -v "$tool" >/dev/null || { echo "set-up: no $tool; install yourself:$missing" >&2; exit 1; }
	done
	echo "installing for the tests:$missing" >&2
	$as_root apt-get update -q
	# The packages of the servers would start one each, of which the tests know nothing.
	policy=/usr/sbin/policy-rc.d
	if [ ! -e $policy ]; then
		printf '#!/bin/sh\nexit 101\n' | $as_root tee $policy >/dev/null
		$as_root chmod 755 $policy
		trap '$as_root rm -f $policy' EXIT
		trap 'exit 1' HUP INT TERM
	fi
	# shellcheck disable=SC2086 # a list of packages
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
fi
opt=/opt/rumbench # where the tests look
export RUMBENCH_OPT=$opt RUMBENCH_LIB=$opt/lib
umask 022 # users who run servers must get at it
[ -w "$opt" ] || { # what is built or unpacked there is this user's to write
	$as_root mkdir -p "$opt"
	$as_root chown -R "$(id -u)" "$opt"
}
cd "$(dirname "$0")"
made=$(
	# An old release of MySQL, to compare with.
	./once.sh mysql-5.5.9 mysql-5.5.9 ./mysql-5.5.9.sh "$opt/mysql-5.5.9"
	# The libraries of native engines: a new and an old version of each.
	./once.sh rocksdb "lib/librocksdb-6.29.5.so lib/librocksdb-11.8.1.so" ./rocksdb.sh 6.29.5 11.8.1
	INPUTS=$(echo ../engine/wiredtiger/shim/shim.*) ./once.sh wiredtiger \
		"lib/rumbench-wiredtiger-3.2.1.so lib/rumbench-wiredtiger-11.3.1.so" ./wiredtiger.sh 3.2.1 11.3.1
	# An old and a new PostgreSQL.
	./once.sh postgres "postgres-12.22.0 postgres-18.0.0" ./postgres.sh 12.22.0 18.0.0
	# What answers MongoDB's protocol in tests.
	./once.sh ferretdb ferretdb ./ferretdb.sh "$opt/ferretdb"
	./once.sh slurm slurm ./slurm.sh "$opt/slurm"
	./once.sh duckdb duckdb ./duckdb.sh "$opt/duckdb"
)
# shellcheck disable=SC2086 # lists of names
made=$(echo $missing $made)
echo "set-up: installed ${made:-nothing, all is there}" >&2
