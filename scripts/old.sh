#!/bin/sh
# Builds a rumbench with another version of a Go module, such as
# github.com/cockroachdb/pebble/v2@v2.1.0, and prints where it is. Plans name it as
# binary: of a target, so that two versions of an engine run in one campaign. With LAYOUTS=k
# it builds k programs that differ in the order of their functions only: binary: names the list.
set -eu
[ $# = 1 ] || { echo "usage: $0 MODULE@VERSION" >&2; exit 2; }
module=${1%@*} version=${1##*@}
name=$(basename "${module%/v[0-9]*}")
cd "$(dirname "$0")/.."
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
cp go.mod "$temp/old.mod"
cp go.sum "$temp/old.sum"
go mod edit -require="$1" "$temp/old.mod"

build() { # OUT [FLAG]
	CGO_ENABLED=0 go build -buildvcs=auto -mod=mod -modfile="$temp/old.mod" ${2:+"$2"} -o "$1" ./cmd/rumbench
	# Another module may need a newer version than the one asked for.
	go version -m "$1" | grep -qF "$module	$version" || {
		echo "$0: $1 has another version:" >&2
		go version -m "$1" | grep -F "$module" >&2
		rm -f "$1"
		exit 1
	}
	echo "$1"
}

layouts=${LAYOUTS:-0}
[ "$layouts" -gt 0 ] || build "bin/rumbench-$name-$version"
for n in $(seq "$layouts"); do
	build "bin/rumbench-$name-$version-$n" "-ldflags=-randlayout=$n"
done
