#!/bin/sh
# Checks what dist.sh built, as root: the checksums are right and those of a second
# build, the package installs in an empty root, and there, without Go and without a C
# library, rumbench runs a plan.
# The binaries of other architectures are started under qemu-user-static, if installed.
set -eu
cd "$(dirname "$0")/.."
host=$(dpkg --print-architecture)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
OUT=$root/again scripts/dist.sh 2>/dev/null
cmp dist/SHA256SUMS "$root/again/SHA256SUMS"
rm -rf "$root/again"
cd dist
sha256sum --check --quiet SHA256SUMS

# An empty root, in which dpkg knows of no package.
mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/var/log" "$root/proc" "$root/dev" "$root/tmp"
touch "$root/var/lib/dpkg/status"
dpkg --root="$root" --install "rumbench_"*"_$host.deb" >/dev/null
test "$(dpkg --root="$root" --verify rumbench)" = ""
cat >"$root/tmp/plan.yaml" <<'PLAN'
workload: ibench
params: {rows: 2k, steps: [l.i0, l.x, l.i1, qr100], rates: [100], query_seconds: 1}
targets: [pebble, sqlite, bbolt]
calibrate: false
PLAN

# The mounts end with their namespace.
inside() {
	unshare --mount sh -euc 'root=$1; shift; mount -t proc proc "$root/proc"; mount --bind /dev "$root/dev"; exec chroot "$root" "$@"' sh "$root" "$@"
}
version=$(dpkg-deb --field "rumbench_"*"_$host.deb" Version)
test "$(inside /usr/bin/rumbench --version)" = "rumbench version $version"
inside /usr/bin/rumbench schema >"$root/tmp/schema"
cmp "$root/tmp/schema" "$root/usr/share/rumbench/plan.schema.json"
inside /usr/bin/rumbench run /tmp/plan.yaml --out /tmp/out >"$root/tmp/log" 2>&1 || { cat "$root/tmp/log" >&2; exit 1; }
test -s "$root/tmp/out/report.html"
inside /usr/bin/rumbench show /tmp/out --metric rows_per_s --step l.i0
echo "rumbench $version: installed in an empty root, and ran a plan there"

for archive in rumbench-*.tar.gz; do
	tar -C "$root/tmp" -xzf "$archive"
	dir=$root/tmp/${archive%.tar.gz}
	case $archive in
	*-"$host".tar.gz) got=$("$dir/rumbench" --version) ;;
	*-arm64.tar.gz)
		if ! command -v qemu-aarch64-static >/dev/null; then
			# The machine in the ELF header: 183 is AArch64.
			test "$(od -An -tu2 -j18 -N2 "$dir/rumbench" | tr -d ' ')" = 183
			echo "$archive: for arm64; not started, as there is no qemu-aarch64-static"
			continue
		fi
		got=$(qemu-aarch64-static "$dir/rumbench" --version)
		;;
	*) continue ;;
	esac
	test "$got" = "rumbench version $version"
	echo "$archive: $got"
done
