#!/bin/sh
# kubernetes.sh DIR builds etcd and the control plane of Kubernetes in DIR, by default /opt/rumbench/kubernetes, for
# a test of manifests against its API. It takes half an hour on two processors and is not part of the set-up.
set -eu
dir=${1:-/opt/rumbench/kubernetes}
version=1.37.2 etcd=3.7.3
[ ! -x "$dir/kube-apiserver" ] || exit 0
mkdir -p "$dir"
src=$(mktemp -d)
trap 'rm -rf "$src"' EXIT
cd "$src"
export GOFLAGS=-mod=mod
# Kubernetes is published as modules that only its own repository joins.
go mod download -json "k8s.io/kubernetes@v$version" | sed -n 's/.*"GoMod": "\(.*\)",/\1/p' >path
{
	echo "module tools"
	grep -E '^(go|godebug|toolchain) ' "$(cat path)" || true
	echo "require k8s.io/kubernetes v$version"
	sed -n "s|^\t\(k8s.io/[a-z0-9-]*\) => ./staging/.*|replace \1 => \1 v0.${version#1.}|p" "$(cat path)"
} >go.mod
printf 'package tools\nimport _ "k8s.io/kubernetes/cmd/kube-apiserver/app"\n' >tools.go
for program in kube-apiserver kube-controller-manager kubectl; do
	CGO_ENABLED=0 go build -ldflags '-s -w' -o "$dir/$program" "k8s.io/kubernetes/cmd/$program"
done
mkdir etcd
cd etcd
printf 'module tools\ngo 1.24\nrequire go.etcd.io/etcd/server/v3 v%s\n' "$etcd" >go.mod
cat >main.go <<'EOF'
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
EOF
CGO_ENABLED=0 go build -ldflags '-s -w' -o "$dir/etcd" .
