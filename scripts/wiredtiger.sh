#!/bin/sh
# Builds rumbench's shim around versions of WiredTiger, the newest unless others are
# named, as /opt/rumbench/lib/rumbench-wiredtiger-VERSION.so, or in $RUMBENCH_LIB;
# what is there of the same shim stays. 3.2.1 is Debian's and needs
# libwiredtiger-dev. Any other is built from the Python package's source, which
# takes minutes and needs g++, cmake, ninja-build, python3-venv, zlib1g-dev,
# libsnappy-dev, liblz4-dev and libzstd-dev. That library is kept beside the
# directory, so that another shim needs gcc only. With frame pointers samples
# of the CPU have callers.
set -eu
[ $# -gt 0 ] || set -- 11.3.1
shim=$(cd "$(dirname "$0")/../engine/wiredtiger/shim" && pwd)
dir=${RUMBENCH_LIB:-/opt/rumbench/lib}
mkdir -p "$dir"
temp=$(mktemp -d "${TMPDIR:-/tmp}/wiredtiger.XXXXXX")
trap 'rm -rf "$temp"' EXIT
compile() { # VERSION WORDS: the words name the header's directory and the library
	version=$1
	shift
	gcc -O2 -fno-omit-frame-pointer -Wall -fPIC -shared "$shim/shim.c" -o "$dir/.wiredtiger-$version" "$@"
	mv "$dir/.wiredtiger-$version" "$dir/rumbench-wiredtiger-$version.so"
}
library_of() { # VERSION: its header and its static library, in $built
	recipe=$(sha256sum <"$0")
	[ "$recipe" != "$(cat "$built/recipe" 2>/dev/null)" ] || return 0
	[ -e "$built/recipe" ] || [ -z "$(find "$built" ! -type d 2>/dev/null | head -n 1)" ] ||
		{ echo "$0: $built was not made here, and is left alone: choose another RUMBENCH_LIB" >&2; exit 1; }
	echo "building WiredTiger $1 from its source (some minutes)" >&2
	/usr/bin/python3 -m venv "$temp/python"
	"$temp/python/bin/pip" download -q --no-deps --no-binary wiredtiger -d "$temp" "wiredtiger==$1"
	tar -xzf "$temp/wiredtiger-$1.tar.gz" -C "$temp"
	cmake -S "$temp/wiredtiger-$1" -B "$temp/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
		-DENABLE_STATIC=ON -DENABLE_SHARED=OFF -DWITH_PIC=ON -DENABLE_STRICT=OFF -DENABLE_PYTHON=OFF \
		-DCMAKE_C_FLAGS=-fno-omit-frame-pointer \
		-DHAVE_BUILTIN_EXTENSION_SNAPPY=ON -DHAVE_BUILTIN_EXTENSION_ZLIB=ON \
		-DHAVE_BUILTIN_EXTENSION_LZ4=ON -DHAVE_BUILTIN_EXTENSION_ZSTD=ON >"$temp/log" 2>&1 &&
		nice ninja -C "$temp/build" wiredtiger_static >>"$temp/log" 2>&1 || { tail -30 "$temp/log" >&2; exit 1; }
	rm -rf "$built"
	mkdir -p "$built"
	echo unfinished >"$built/recipe"
	cp -R "$temp/build/include" "$temp/build/libwiredtiger.a" "$built"
	echo "$recipe" >"$built/recipe" # last: all is there
}
for version; do
	lib=$dir/rumbench-wiredtiger-$version.so
	sum=$(cat "$shim"/shim.* | sha256sum)
	[ -e "$lib" ] && [ "$sum" = "$(cat "$lib.shim" 2>/dev/null)" ] && continue
	rm -f "$lib.shim"
	if [ "$version" = 3.2.1 ]; then
		compile "$version" -lwiredtiger
		echo "$sum" >"$lib.shim"
		continue
	fi
	rm -rf "$temp"/*
	built=$(dirname "$dir")/wiredtiger-$version
	library_of "$version"
	compile "$version" -I"$built/include" -Wl,--exclude-libs,ALL "$built/libwiredtiger.a" -lsnappy -llz4 -lzstd -lz -lpthread
	echo "$sum" >"$lib.shim"
done
