#!/bin/sh
# ferretdb.sh DIR builds FerretDB 1.24 with its SQLite backend in DIR, by default
# /opt/rumbench/ferretdb, for tests of the MongoDB protocol: rumbench's tests
# start it as they would start a mongod. It is not MongoDB, none of its reads uses
# an index, and its figures say nothing of MongoDB's.
set -eu
here=$(dirname "$(realpath "$0")")
dir=${1:-/opt/rumbench/ferretdb}
version=v1.24.0
program=$dir/ferretdb

if [ -x "$program" ] && "$program" --version | grep -q "FerretDB $version"; then
	exit 0
fi
[ ! -e "$program" ] || "$program" --version | grep -q "for protocol tests" ||
	{ echo "$0: $program was not made here, and is left alone: name a new directory" >&2; exit 1; }
mkdir -p "$dir"
src=$(mktemp -d)
trap 'rm -rf "$src"' EXIT
cd "$src"

# FerretDB's own main cannot be built from the module proxy: its version is a
# generated file. This one takes what rumbench gives to a mongod, and no more.
cat >main.go <<EOF
package main

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	given := map[string]string{}
	for _, arg := range os.Args[1:] {
		name, value, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		given[name] = value
	}
	if _, ok := given["version"]; ok {
		fmt.Println("db version v7.0.42, which FerretDB $version claims to be; for protocol tests")
		return
	}
	if _, ok := given["help"]; ok {
		fmt.Println("  --dbpath arg\n  --bind_ip arg\n  --port arg\n  --unixSocketPrefix arg\n  --wiredTigerCacheSizeGB arg")
		return
	}
	slog.SetLogLoggerLevel(slog.LevelWarn)
	f, err := ferretdb.New(&ferretdb.Config{
		Handler: "sqlite", SQLiteURL: "file:" + given["dbpath"] + "/",
		Listener: ferretdb.ListenerConfig{TCP: given["bind_ip"] + ":" + given["port"], Unix: given["unixSocketPrefix"] + "/mongodb-" + given["port"] + ".sock"},
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := f.Run(ctx); err != nil {
		log.Fatal(err)
	}
}
EOF
cat >go.mod <<EOF
module ferretdb

go 1.26

require github.com/FerretDB/FerretDB $version
require modernc.org/sqlite $(cd "$here" && go list -m -f '{{.Version}}' modernc.org/sqlite) // rumbench's: it is compiled once
EOF
GOFLAGS=-mod=mod go mod tidy
CGO_ENABLED=0 go build -o "$program" .
echo "$program"
