#!/bin/sh
# Installs what the tests need beside Go: a browser to open the report in, and
# a C compiler, which Go's race detector needs.
set -eu
missing=
command -v chromium >/dev/null || command -v google-chrome >/dev/null || missing="$missing chromium"
command -v gcc >/dev/null || missing="$missing gcc libc6-dev"
[ -n "$missing" ] || exit 0
as_root=
[ "$(id -u)" = 0 ] || as_root=sudo
echo "installing for the tests:$missing" >&2
$as_root apt-get update -q
# shellcheck disable=SC2086 # a list of packages
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
