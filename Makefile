# make demo and make test do all set-up on a fresh Debian or Ubuntu machine with Go.

GO ?= go
# Clones share the build cache: what is built does not depend on where it lies.
export GOFLAGS = -trimpath
# More words for the demo, such as --set params.rows=50000.
DEMO ?=
# Packages whose tests also run under the race detector.
RACE = ./engine/kvkit ./engine/pebble ./engine/badger ./internal/cpuset ./engine/memory ./engine/bbolt ./internal/drive ./internal/hist ./internal/observe ./internal/trial ./internal/campaign ./internal/wire ./internal/server ./internal/watch

# Packages that have more with the native engines.
NATIVE = ./engine/native ./engine/rocksdb ./engine/lmdb ./engine/wiredtiger ./internal/registry

.PHONY: build native wiredtiger old demo test bench bench-peers explain-suite setup dist check-dist clean

build:
	CGO_ENABLED=0 $(GO) build -buildvcs=auto -o bin/rumbench ./cmd/rumbench

# Also has the engines that are written in C and C++, which it loads at run time.
# It needs gcc and libc6-dev, and no header of a database.
native: build
	CGO_ENABLED=1 $(GO) build -buildvcs=auto -tags native -o bin/rumbench-native ./cmd/rumbench

# The shim that the engine wiredtiger loads, around version V of WiredTiger.
V ?= 11.3.1
wiredtiger:
	scripts/wiredtiger.sh $(V)

# A rumbench with another version of a Go engine, for binary: of a target:
# make old MOD=github.com/cockroachdb/pebble/v2@v2.1.0
old:
	scripts/old.sh $(MOD)

demo: build
	bin/rumbench run plans/quick.yaml $(DEMO)

setup:
	scripts/setup.sh

test: build native setup
	test -z "$$(gofmt -l $$(git ls-files '*.go'))"
	$(GO) vet ./...
	$(GO) test -timeout 30m ./...
	CGO_ENABLED=1 $(GO) vet -tags native ./engine/...
	CGO_ENABLED=1 $(GO) test -timeout 30m -tags native $(NATIVE)
	$(GO) test -race $(RACE)

# All budgets, or ONLY some: make bench ONLY=profiles
bench:
	$(GO) run ./bench $(ONLY)

# Planted differences, and what rumbench explain says of them: hours, on a quiet machine.
explain-suite: build
	$(GO) run ./bench/planted

bench-peers:
	CGO_ENABLED=1 $(GO) run -tags native ./bench/peers

# What is given away: static binaries, packages and checksums.
dist:
	scripts/dist.sh

check-dist: dist
	scripts/check-dist.sh

clean:
	rm -rf bin dist
