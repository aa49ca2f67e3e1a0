#!/bin/sh
# Fetches releases of RocksDB from Maven Central: its Java archive holds a library
# with the C API that needs no Java. They are laid out as
# /opt/rumbench/lib/librocksdb-VERSION.so, or in $RUMBENCH_LIB; what is there stays.
set -eu
[ $# -gt 0 ] || { echo "usage: $0 VERSION..." >&2; exit 2; }
dir=${RUMBENCH_LIB:-/opt/rumbench/lib}
mkdir -p "$dir"
temp=$(mktemp -d "$dir/fetch.XXXXXX")
trap 'rm -rf "$temp"' EXIT
for version; do
	lib=$dir/librocksdb-$version.so
	[ ! -e "$lib" ] || continue
	echo "fetching RocksDB $version (60 MB)" >&2
	mvn -B -q -Dstyle.color=never dependency:copy -Dartifact="org.rocksdb:rocksdbjni:$version" -DoutputDirectory="$temp" >&2
	unzip -qo "$temp/rocksdbjni-$version.jar" librocksdbjni-linux64.so -d "$temp"
	chmod 644 "$temp/librocksdbjni-linux64.so"
	mv "$temp/librocksdbjni-linux64.so" "$lib" # last: it is whole
	rm -f "$temp"/*.jar
done
