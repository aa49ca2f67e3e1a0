# make demo and make test do all set-up on a fresh Debian or Ubuntu machine with Go.

GO ?= go
# More words for the demo, such as --set params.rows=50000.
DEMO ?=
# Packages whose tests also run under the race detector.
RACE = ./engine/kvkit ./engine/pebble ./internal/cpuset ./engine/memory ./engine/bbolt ./internal/drive ./internal/hist ./internal/observe ./internal/trial ./internal/campaign ./internal/wire ./internal/server ./internal/watch

.PHONY: build demo test bench bench-peers setup dist check-dist clean

build:
	CGO_ENABLED=0 $(GO) build -o bin/rumbench ./cmd/rumbench

demo: build
	bin/rumbench run plans/quick.yaml $(DEMO)

setup:
	scripts/setup.sh

test: build setup
	test -z "$$(gofmt -l $$(git ls-files '*.go'))"
	$(GO) vet ./...
	$(GO) test ./...
	$(GO) test -race $(RACE)

bench:
	$(GO) run ./bench

bench-peers:
	$(GO) run ./bench/peers

# What is given away: static binaries, packages and checksums.
dist:
	scripts/dist.sh

check-dist: dist
	scripts/check-dist.sh

clean:
	rm -rf bin dist
