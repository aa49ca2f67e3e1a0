#!/bin/sh
# Makes a container image of a server that is installed on this machine: of its programs, their
# libraries, a shell and the few tools that its scripts call. The tests run such images, as no
# registry can be reached from everywhere.
#
#   scripts/image.sh NAME PATH...    PATH: a program, or a directory that is copied whole
#
# RUNTIME is the program that imports it (default podman).
set -eu
name=$1
shift
runtime=${RUNTIME:-podman}

# files prints a path with all below it, and the libraries of its programs.
files() {
	find -L "$1"
	find -L "$1" -type f \( -perm -u+x -o -name '*.so' \) -exec ldd {} + 2>/dev/null | grep -o '/[^ :]*' || true
}

tools="sh readlink basename dirname hostname uname cat chmod chown mkdir rm ls id env sed grep expr touch tr cp"
{
	files /bin/sh
	for tool in $tools; do
		files "$(command -v "$tool")"
	done
	for path in "$@"; do
		files "$path"
	done
} | sort -u | tar --create --no-recursion --dereference --hard-dereference --files-from - 2>/dev/null |
	"$runtime" import - "$name" >/dev/null
