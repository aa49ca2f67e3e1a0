#!/bin/sh
# once.sh NAME "PRODUCT..." COMMAND... runs a command that makes files or directories below
# /opt/rumbench (or $RUMBENCH_OPT), unless they are there as the same command has made them:
# NAME.sha256 has the checksum of the command, of its script and of $INPUTS, and those of
# all files that it has made. If one of them differs, all are made again. It prints the
# name of what it makes.
set -eu
[ $# -gt 2 ] || { echo "usage: $0 NAME 'PRODUCT...' COMMAND..." >&2; exit 2; }
opt=${RUMBENCH_OPT:-/opt/rumbench}
name=$1 products=$2
shift 2
sums=$opt/$name.sha256
mkdir -p "$opt"
exec 9>"$opt/.$name.lock"
flock 9 # another set-up may be at it
recipe=$( (echo "$@"; cat "$1" ${INPUTS:-}) | sha256sum | cut -d' ' -f1)
if [ -e "$sums" ]; then
	[ "$(head -n 1 "$sums")" = "# $recipe" ] && sha256sum --check --status "$sums" 2>/dev/null && exit
	sed -n 's/^[0-9a-f]*  //p' "$sums" | tr '\n' '\0' | xargs -0 rm -f
	rm "$sums"
fi
echo "$name"
"$@" >&2
{
	echo "# $recipe"
	for product in $products; do
		[ -e "$opt/$product" ] || { echo "$name: $product was not made" >&2; exit 1; }
		find "$opt/$product" -type f ! -name '*.pyc' -print0 | LC_ALL=C sort -z | xargs -0 -r sha256sum
	done
} >"$sums.new"
mv "$sums.new" "$sums"
