#!/bin/sh
# setup.sh [long] installs what make test needs besides Go: a browser, the servers and libraries
# that the engines run on, proxies, containers, a server of SSH, and a C compiler for native engines
# and Go's race detector.
# With long it also installs what only make test-long needs: old and second releases, a cluster's
# replication, Slurm, DuckDB, and programs that rumbench is compared with. It starts no server.
# What is there is not asked for again.
set -eu
tier=${1:-short}
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
need postgresql sh -c 'ls /usr/lib/postgresql/*/bin/postgres'
need python3-prometheus-client test -e /usr/lib/python3/dist-packages/prometheus_client
need libwiredtiger-dev test -e /usr/include/wiredtiger.h
need tarantool test -x /usr/bin/tarantool
need e2fsprogs test -x /sbin/mkfs.ext4
need mount test -x /bin/mount
need maven command -v mvn
need sysbench command -v sysbench
need pgbouncer test -x /usr/sbin/pgbouncer
need haproxy test -x /usr/sbin/haproxy
need podman test -x /usr/bin/podman
need runc test -x /usr/sbin/runc
need openssh-server test -x /usr/sbin/sshd
need iproute2 test -x /usr/sbin/ip
need xz-utils command -v xz
need ca-certificates test -e /etc/ssl/certs/ca-certificates.crt
need unzip command -v unzip
if [ "$tier" = long ]; then
	need galera-4 test -e /usr/lib/galera/libgalera_smm.so
	need rsync command -v rsync
	need rocksdb-tools command -v db_bench
	need python3-venv test -d /usr/lib/python3.11/ensurepip
	need g++ command -v g++
	need cmake command -v cmake
	need ninja-build command -v ninja
	need zlib1g-dev test -e /usr/include/zlib.h
	need libsnappy-dev test -e /usr/include/snappy-c.h
	need liblz4-dev test -e /usr/include/lz4.h
	need libzstd-dev test -e /usr/include/zstd.h
fi
as_root=
[ "$(id -u)" = 0 ] || as_root=sudo
opt=/opt/rumbench # where the tests look
export RUMBENCH_OPT=$opt RUMBENCH_LIB=$opt/lib
umask 022 # users who run servers must get at it
[ -w "$opt" ] || { # what is built or unpacked there is this user's to write
	$as_root mkdir -p "$opt"
	$as_root chown -R "$(id -u)" "$opt"
}
cd "$(dirname "$0")"
once() { # NAME PRODUCTS COMMAND...: notes the name of what is made
	INPUTS=${INPUTS-} ./once.sh "$@" >>"$made"
}
made=$(mktemp)
trap 'rm -f "$made"; [ -z "${policy-}" ] || $as_root rm -f "$policy"' EXIT
trap 'exit 1' HUP INT TERM
# What answers MongoDB's protocol in tests needs Go alone: it is built while packages are installed.
once ferretdb ferretdb ./ferretdb.sh "$opt/ferretdb" &
ferretdb=$!
if [ -n "$missing" ]; then
	for tool in apt-get $as_root; do
		command -v "$tool" >/dev/null || { echo "set-up: no $tool; install yourself:$missing" >&2; exit 1; }
	done
	echo "installing for the tests:$missing" >&2
	$as_root apt-get update -q
	# The packages of the servers would start one each, of which the tests know nothing.
	if [ ! -e /usr/sbin/policy-rc.d ]; then
		policy=/usr/sbin/policy-rc.d
		printf '#!/bin/sh\nexit 101\n' | $as_root tee $policy >/dev/null
		$as_root chmod 755 $policy
	fi
	# shellcheck disable=SC2086 # a list of packages
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
fi
# The libraries of native engines.
once rocksdb lib/librocksdb-11.8.1.so ./rocksdb.sh 11.8.1
shim="../engine/wiredtiger/shim/shim.c ../engine/wiredtiger/shim/shim.h" # more that the recipe consists of
INPUTS=$shim once wiredtiger lib/rumbench-wiredtiger-3.2.1.so ./wiredtiger.sh 3.2.1
if [ "$tier" = long ]; then # old releases to compare with, and others
	once mysql-5.5.9 mysql-5.5.9 ./mysql-5.5.9.sh "$opt/mysql-5.5.9"
	once rocksdb-old lib/librocksdb-6.29.5.so ./rocksdb.sh 6.29.5
	INPUTS=$shim once wiredtiger-new lib/rumbench-wiredtiger-11.3.1.so ./wiredtiger.sh 11.3.1
	once postgres "postgres-12.22.0 postgres-18.0.0" ./postgres.sh 12.22.0 18.0.0
	once slurm slurm ./slurm.sh "$opt/slurm"
	once duckdb duckdb ./duckdb.sh "$opt/duckdb"
fi
wait $ferretdb
# shellcheck disable=SC2046 # lists of names
set -- $missing $(cat "$made")
echo "set-up: installed ${*:-nothing, all is there}" >&2
