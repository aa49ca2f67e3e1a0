#!/bin/sh
# once.sh NAME PRODUCT COMMAND... runs a command that makes a file or a directory below
# /opt/rumbench (or $RUMBENCH_OPT), unless it is there as the same command has made it:
# NAME.sha256 has the checksum of the command, of its script and of $INPUTS, and those of
# all files of the product. It prints the name of what it makes.
set -eu
[ $# -gt 2 ] || { echo "usage: $0 NAME PRODUCT COMMAND..." >&2; exit 2; }
opt=${RUMBENCH_OPT:-/opt/rumbench}
name=$1 product=$opt/$2
shift 2
sums=$opt/$name.sha256
recipe=$( (echo "$@"; cat "$1" ${INPUTS:-}) | sha256sum | cut -d' ' -f1)
if [ "$(head -n 1 "$sums" 2>/dev/null)" = "# $recipe" ] && sha256sum --check --status "$sums" 2>/dev/null; then
	exit 0
fi
echo "$name"
rm -f "$sums"
"$@" >&2
{
	echo "# $recipe"
	find "$product" -type f ! -name '*.pyc' -print0 | LC_ALL=C sort -z | xargs -0 sha256sum
} >"$sums.new"
mv "$sums.new" "$sums"
