#!/bin/sh
# Builds what is given away into dist: for each architecture a static binary in a
# .tar.gz and in a .deb, and SHA256SUMS. The same commit and Go give the same bytes.
#
#   VERSION  default: from git        ARCHES  default: amd64 arm64
#   OUT      default: dist            GO      default: go
#
# OUT is a new or an empty directory: only dist itself is replaced.
set -eu
umask 022
cd "$(dirname "$0")/.."
go=${GO:-go}
out=${OUT:-dist}
if [ "$out" = dist ]; then
	rm -rf dist
elif [ -e "$out" ] && [ -n "$(ls -A -- "$out")" ]; then
	echo "dist: OUT=$out holds something, and nothing is removed: name a new or an empty directory" >&2
	exit 1
fi
export CGO_ENABLED=0 GOFLAGS="-trimpath -buildvcs=false"
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}"
# A version begins with a digit: that of a tag, else 0, the commit's date and its name.
version=${VERSION:-$(git describe --tags --exact-match 2>/dev/null | sed 's/^v//')}
version=${version:-0+$(TZ=UTC git log -1 --format=%cd.%h --date=format-local:%Y%m%d)}
git diff --quiet HEAD 2>/dev/null || test -n "${VERSION:-}" || version=$version.changed

mkdir -p -- "$out"
out=$(cd -- "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build() { # ARCH
	GOOS=linux GOARCH=$1 $go build -ldflags "-s -w -X rumbench/internal/cli.version=$version" -o "$work/rumbench-$1" ./cmd/rumbench
}

# What is the same for all architectures.
host=$($go env GOHOSTARCH)
build "$host"
mkdir "$work/share"
$go run ./scripts/man "$work/share/man" "$version"
mkdir "$work/share/completions"
"$work/rumbench-$host" completion bash >"$work/share/completions/rumbench.bash"
"$work/rumbench-$host" completion zsh >"$work/share/completions/_rumbench"
"$work/rumbench-$host" completion fish >"$work/share/completions/rumbench.fish"
"$work/rumbench-$host" schema >"$work/share/plan.schema.json"
cp -R README.md CHANGELOG.md LICENSE docs plans "$work/share"

# plain gives all files below a directory the commit's time, and modes that do not
# depend on the checkout.
plain() {
	chmod -R u=rwX,go=rX "$1"
	find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
}

tarball() { # ARCH
	name=rumbench-$version-linux-$1
	cp -R "$work/share" "$work/$name"
	cp "$work/rumbench-$1" "$work/$name/rumbench"
	plain "$work/$name"
	tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --format=ustar -cf - "$name" | gzip -9n >"$out/$name.tar.gz"
}

deb() { # ARCH
	root=$work/deb-$1
	doc=$root/usr/share/doc/rumbench
	mkdir -p "$root/DEBIAN" "$root/usr/bin" "$doc" "$root/usr/share/man/man1" "$root/usr/share/rumbench" \
		"$root/usr/share/bash-completion/completions" "$root/usr/share/zsh/vendor-completions" "$root/usr/share/fish/vendor_completions.d"
	cp "$work/rumbench-$1" "$root/usr/bin/rumbench"
	cp "$work/share/completions/rumbench.bash" "$root/usr/share/bash-completion/completions/rumbench"
	cp "$work/share/completions/_rumbench" "$root/usr/share/zsh/vendor-completions"
	cp "$work/share/completions/rumbench.fish" "$root/usr/share/fish/vendor_completions.d"
	cp "$work/share/man/"*.1 "$root/usr/share/man/man1"
	gzip -9n "$root/usr/share/man/man1/"*.1
	cp -R "$work/share/plan.schema.json" "$work/share/plans" "$root/usr/share/rumbench"
	cp -R README.md docs "$doc"
	cp LICENSE "$doc/copyright"
	gzip -9nc CHANGELOG.md >"$doc/changelog.gz"
	kib=$(find "$root" -type f -printf '%s\n' | awk '{n += $1} END {print int((n + 1023) / 1024)}')
	sed -e "s/@VERSION@/$version/" -e "s/@ARCH@/$1/" -e "s/@SIZE@/$kib/" scripts/debian-control >"$root/DEBIAN/control"
	(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
	plain "$root"
	dpkg-deb --root-owner-group --build "$root" "$out/rumbench_${version}_$1.deb" >/dev/null
}

for arch in ${ARCHES:-amd64 arm64}; do
	test "$arch" = "$host" || build "$arch"
	tarball "$arch"
	if command -v dpkg-deb >/dev/null; then deb "$arch"; else echo "dist: no dpkg-deb, so no .deb" >&2; fi
done
(cd "$out" && sha256sum -- rumbench* >SHA256SUMS)
ls -l "$out" >&2
