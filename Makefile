# make demo and make test do all set-up on a fresh machine with Debian 12 and Go.

GO ?= go
# Clones share the build cache: what is built does not depend on where it lies.
export GOFLAGS := $(GOFLAGS) -trimpath
# More words for the demo, such as --set params.rows=50000.
DEMO ?=
.NOTPARALLEL:
.PHONY: build native wiredtiger postgres old demo check vet test test-long suite planted kubernetes faults bench bench-peers explain-suite setup dist check-dist clean

build:
	CGO_ENABLED=0 $(GO) build -buildvcs=auto -o bin/rumbench ./cmd/rumbench

# Also has the engines that are written in C and C++, which it loads at run time.
# It needs gcc and libc6-dev, and no header of a database.
native: build
	CGO_ENABLED=1 $(GO) build -buildvcs=auto -tags native -o bin/rumbench-native ./cmd/rumbench

# The shim that the engine wiredtiger loads, around version V of WiredTiger.
wiredtiger:
	scripts/wiredtiger.sh $(or $(V),11.3.1)

# The programs of a release of PostgreSQL, for binary: of a target: make postgres V=18.0.0
postgres:
	scripts/postgres.sh $(V)

# A rumbench with another version of a Go engine, for binary: of a target:
# make old MOD=github.com/cockroachdb/pebble/v2@v2.1.0
# LAYOUTS=5 builds it five times, with functions in another order each.
old:
	LAYOUTS=$(LAYOUTS) scripts/old.sh $(MOD)

demo: build
	bin/rumbench run plans/quick.yaml $(DEMO)

setup:
	scripts/setup.sh

# What needs Go alone: no server, browser, root or set-up. Run it after each change.
# The target vet has run vet; many tests wait, hence -p.
check: vet
	$(GO) test -vet=off -short -p 4 ./...

vet:
	@files=$$(gofmt -l $$(git ls-files '*.go')) && [ -z "$$files" ] || { echo "not formatted by gofmt: $$files"; exit 1; }
	$(GO) vet ./...

# Each package, engine, workload and server once: run it before a change lands.
test: suite

# Also whole matrices, kills by the dozen and the commands of all documents, in an hour: run it before an issue is resolved.
test-long: SUITE = -long
test-long: suite

suite: setup build native vet
	@# vet reads files of cgo where they were when they were last built: that must be here, not in another clone
	CGO_ENABLED=1 GOFLAGS="$(filter-out -trimpath,$(GOFLAGS))" $(GO) vet -tags native ./engine/...
	$(GO) run ./scripts/suite $(SUITE)

# All budgets, or ONLY some: make bench ONLY=profiles
bench:
	$(GO) run ./bench $(ONLY)

# Processes of a fleet are killed and stopped, and its network is cut, at random moments: half an hour.
faults: build
	RUMBENCH_FAULTS=1 $(GO) test -count=1 -timeout 90m -v -run 'TestKills|TestCut|TestThin' ./internal/cli

# Planted differences, and what rumbench explain says of them: hours, on a quiet machine.
explain-suite: build
	$(GO) run ./bench/planted

# A server with a user's tables of all names that rumbench uses, 50 runs on it with kills.
planted:
	RUMBENCH_KILLS=50 $(GO) test ./internal/cli -run TestNothingOfTheUsersIsTouched -count 1 -timeout 1h -v

# The control plane of Kubernetes, built in half an hour, and the manifests on it.
kubernetes:
	GOFLAGS= scripts/kubernetes.sh
	$(GO) test ./internal/cli -run TestKubernetes -count 1 -v

bench-peers:
	CGO_ENABLED=1 $(GO) run -tags native ./bench/peers

# What is given away: static binaries, packages and checksums.
dist:
	scripts/dist.sh

check-dist: dist
	scripts/check-dist.sh

clean:
	rm -rf bin dist
