#!/bin/sh
# Builds a rumbench with another version of a Go module, such as
# github.com/cockroachdb/pebble/v2@v2.1.0, and prints where it is. Plans name it as
# binary: of a target, so that two versions of an engine run in one campaign.
set -eu
[ $# = 1 ] || { echo "usage: $0 MODULE@VERSION" >&2; exit 2; }
module=${1%@*} version=${1##*@}
name=$(basename "${module%/v[0-9]*}")
cd "$(dirname "$0")/.."
out=bin/rumbench-$name-$version
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
cp go.mod "$temp/old.mod"
cp go.sum "$temp/old.sum"
go mod edit -require="$1" "$temp/old.mod"
CGO_ENABLED=0 go build -buildvcs=auto -mod=mod -modfile="$temp/old.mod" -o "$out" ./cmd/rumbench
# Another module may need a newer version than the one asked for.
go version -m "$out" | grep -qF "$module	$version" || {
	echo "$0: $out has another version:" >&2
	go version -m "$out" | grep -F "$module" >&2
	rm -f "$out"
	exit 1
}
echo "$out"
