#!/bin/sh
# slurm.sh DIR unpacks Debian's Slurm in DIR, by default /opt/rumbench/slurm, for a test that starts a cluster
# of its own. Nothing is installed, and no service is set up.
set -eu
dir=${1:-/opt/rumbench/slurm}
[ ! -x "$dir/usr/bin/srun" ] || exit 0
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
src=$(mktemp -d)
trap 'rm -rf "$src"' EXIT
cd "$src"
apt-get download -q slurmctld slurmd slurm-client slurm-wlm-basic-plugins libhwloc15 libjson-c5 libfreeipmi17
for package in *.deb; do
	dpkg -x "$package" "$dir"
done
