#!/bin/sh
# Installs what the tests need beside Go: a browser to open the report in.
set -eu
command -v chromium >/dev/null || command -v google-chrome >/dev/null && exit 0
as_root=
[ "$(id -u)" = 0 ] || as_root=sudo
echo "installing chromium, in which the tests open the report" >&2
$as_root apt-get update -q
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends chromium
