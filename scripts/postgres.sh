#!/bin/sh
# Fetches releases of PostgreSQL from Maven Central, where a project for embedding it in
# tests publishes its programs: postgres, initdb and pg_ctl with the libraries they need.
# They are laid out as /opt/rumbench/postgres-VERSION, or in $RUMBENCH_OPT, for
# binary: /opt/rumbench/postgres-VERSION/bin/postgres; what is there stays. A release is
# named in full, as 17.5.0.
set -eu
[ $# -gt 0 ] || { echo "usage: $0 VERSION..., such as 17.5.0" >&2; exit 2; }
case $(uname -m) in
x86_64) machine=amd64 ;;
aarch64) machine=arm64v8 ;;
*) echo "$0: there are no programs for $(uname -m)" >&2; exit 1 ;;
esac
opt=${RUMBENCH_OPT:-/opt/rumbench}
mkdir -p "$opt"
temp=$(mktemp -d "$opt/fetch.XXXXXX")
trap 'rm -rf "$temp"' EXIT
for version; do
	case $version in
	*[!0-9.-]*) echo "$0: $version is no release of PostgreSQL, such as 17.5.0" >&2; exit 2 ;;
	*.*.*) ;;
	*) version=$version.0 ;; # as they are numbered there
	esac
	dir=$opt/postgres-$version
	[ ! -x "$dir/bin/postgres" ] || { echo "$dir/bin/postgres"; continue; }
	[ -z "$(find "$dir" ! -type d 2>/dev/null | head -n 1)" ] ||
		{ echo "$0: $dir holds files, which are left alone" >&2; exit 1; }
	echo "fetching PostgreSQL $version (15 MB)" >&2
	name=embedded-postgres-binaries-linux-$machine
	mvn -B -q -Dstyle.color=never dependency:copy -Dartifact="io.zonky.test.postgres:$name:$version" \
		-DoutputDirectory="$temp" >&2 ||
		{ echo "$0: Maven Central has no PostgreSQL $version; releases are listed under io.zonky.test.postgres" >&2; exit 1; }
	unzip -qo "$temp/$name-$version.jar" '*.txz' -d "$temp"
	rm -rf "$temp/postgres" "$dir"
	mkdir "$temp/postgres"
	tar -xJf "$temp"/*.txz -C "$temp/postgres" --no-same-owner
	chmod -R a+rX "$temp/postgres"
	mv "$temp/postgres" "$dir" # last: it is whole
	rm -f "$temp"/*.jar "$temp"/*.txz
	echo "$dir/bin/postgres"
done
