# Targets: build, demo, test, race, bench, lint, fuzz, faults, memory, cover, cases, docs, clean.

GO       ?= go
BIN      := bin/millstream
VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  := -s -w -X github.com/millstream-io/millstream/internal/cli.version=$(VERSION)
SHARED   ?= ../shared
FUZZTIME ?= 30s

export CGO_ENABLED = 0

.PHONY: build demo test race bench bench-flink lint fuzz faults memory cover cases docs clean

build:
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/millstream

demo: build
	rm -rf examples/out
	$(BIN) run --fresh --output table --data examples/out/.data examples/flights/job.sql
	$(BIN) run --fresh --output table --data examples/out/.data examples/spells/job.sql
	$(BIN) run --fresh --output table --data examples/out/.data examples/earthquakes/job.sql
	@echo; echo "The whole results are in examples/out."

test: build
	$(GO) vet ./...
	$(GO) test -timeout 20m ./...

# The race detector needs cgo and a C compiler.
race:
	CGO_ENABLED=1 $(GO) test -race -short -timeout 30m ./...

bench:
	$(GO) test -run '^$$' -bench . -benchtime 200ms ./...

bench-flink: build
	$(GO) run ./bench compare --shared $(SHARED)/nexmark

lint:
	@out=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "not formatted:"; echo "$$out"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

fuzz:
	$(GO) test -run '^$$' -fuzz FuzzParse -fuzztime $(FUZZTIME) ./internal/sql/parse
	$(GO) test -run '^$$' -fuzz FuzzJSON -fuzztime $(FUZZTIME) ./format/json
	$(GO) test -run '^$$' -fuzz FuzzCSV -fuzztime $(FUZZTIME) ./format/csv

# The whole table of docs/faults.md; "make test" runs a sample of each line.
faults:
	GOGC=400 MILLSTREAM_CRASHES=10000 MILLSTREAM_MUTATIONS=10000 MILLSTREAM_CALLS=1 $(GO) test -timeout 3h -v -run 'TestShapes|TestSwapCrash|TestStopCrash' ./internal/sim
	MILLSTREAM_SEEDS=10 $(GO) test -timeout 3h -v -run 'TestScriptFaults' ./test
	MILLSTREAM_CRASHES=10000 $(GO) test -timeout 3h -v -run 'TestRunCrash' ./internal/cli
	MILLSTREAM_KILLS=500 $(GO) test -timeout 3h -v -run 'TestKill|TestDiskErrors|TestFullDisk|TestHeld|TestDataRemoved|TestStop' ./test/process

# A job with far more state than memory.
memory: build
	bench/memory.sh $(BIN)

cover:
	$(GO) test -short -coverprofile cover.out ./...
	$(GO) tool cover -func cover.out | tail -n 1

# Takes over new and changed cases; files whose answer differs from Flink's on purpose stay as they are.
cases:
	$(GO) run ./test/refresh $(SHARED)/cases test/cases

docs: build
	$(BIN) docs docs/reference

clean:
	rm -rf bin examples/out cover.out
