# make demo and make test do all set-up on a fresh machine with Debian 12 and Go.

GO ?= go
# Clones share the build cache: what is built does not depend on where it lies.
export GOFLAGS := $(GOFLAGS) -trimpath
NATIVE := native,netgo,osusergo
# More words for the demo, such as --set params.rows=50000.
DEMO ?=
.NOTPARALLEL:
.PHONY: build native wiredtiger postgres old demo check vet test test-long suite planted kubernetes faults bench bench-peers explain-suite setup setup-long dist check-dist clean

build:
	CGO_ENABLED=0 $(GO) build -buildvcs=auto -o bin/rumbench ./cmd/rumbench

# Also has the engines that are written in C and C++, which it loads at run time.
# It needs gcc and libc6-dev, and no header of a database.
# With frame pointers samples of LMDB and of the bindings have callers.
# Names and users are looked up as in the static build, so that most packages are compiled once for both.
native: build
	CGO_ENABLED=1 CGO_CFLAGS="-O2 -g -fno-omit-frame-pointer" $(GO) build -buildvcs=auto -tags $(NATIVE) -o bin/rumbench-native ./cmd/rumbench

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

# Its program has what the demo needs, and is compiled in half the time.
demo:
	CGO_ENABLED=0 $(GO) build -buildvcs=auto -tags demo -o bin/rumbench-demo ./cmd/rumbench
	bin/rumbench-demo run plans/quick.yaml $(DEMO)

setup:
	scripts/setup.sh

setup-long:
	scripts/setup.sh long

# What needs Go alone: no server, browser, root or set-up. Run it after each change.
# The target vet has run vet; many tests wait, hence -p.
check: vet
	CGO_ENABLED=0 $(GO) test -vet=off -short -p 4 ./...

vet:
	@files=$$(gofmt -l $$(git ls-files '*.go')) && [ -z "$$files" ] || { echo "not formatted by gofmt: $$files"; exit 1; }
	CGO_ENABLED=0 $(GO) vet ./...

# Each package, engine, workload and server once: run it before a change lands.
test: suite

# Also whole matrices, kills by the dozen and the commands of all documents, in an hour: run it before an issue is resolved.
test-long: TIER = long
test-long: suite

suite: # it builds while it installs
	@scripts/setup.sh $(TIER) & setup=$$!; $(MAKE) build && wait $$setup
	@$(MAKE) native vet
	@# vet reads files of cgo where they were when they were last built: that must be here, not in another clone
	CGO_ENABLED=1 GOFLAGS="$(filter-out -trimpath,$(GOFLAGS))" $(GO) vet -tags $(NATIVE) ./engine/lmdb ./engine/native ./engine/rocksdb ./engine/wiredtiger
	$(GO) run ./scripts/suite $(addprefix -,$(TIER))

# All budgets, or ONLY some: make bench ONLY=profiles
bench:
	$(GO) run ./bench $(ONLY)

# Processes of a fleet are killed and stopped, and its network is cut, at random moments.
faults: build
	RUMBENCH_LONG=1 $(GO) test -count=1 -timeout 90m -v -run 'TestKills|TestCut|TestThin' ./internal/cli

# Planted differences, and what rumbench explain says of them: hours, on a quiet machine.
explain-suite: build
	$(GO) run ./bench/planted

# A server with a user's tables of all names that rumbench uses, 50 runs on it with kills.
planted:
	RUMBENCH_LONG=1 RUMBENCH_KILLS=50 $(GO) test ./internal/cli -run TestNothingOfTheUsersIsTouched -count 1 -timeout 1h -v

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
