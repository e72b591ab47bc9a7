# Everything a newcomer runs. Needs a Swift 6.2 toolchain; installs what else is missing.

SWIFT ?= swift
FORMATTED = Package.swift Sources Tests Examples/Client/Package.swift Examples/Client/Sources \
	$(wildcard Benchmarks/Package.swift Benchmarks/Sources)

.PHONY: demo test client bench bench-quick guard guard-update guard-build format lint dependencies clean

# Imports real records, kills a writer, recovers, compacts, reads cold; prints what it took.
demo: dependencies
	$(SWIFT) run -c release roost demo --fixture Fixtures/packages.jsonl

# Builds and runs all tests, and the example client.
test: dependencies
	$(SWIFT) build --build-tests
	$(SWIFT) test
	$(MAKE) client

client: dependencies
	$(SWIFT) run --package-path Examples/Client Client

# Roost beside what people use today: figures as JSON, tables in docs/BENCHMARKS.md, plots.
# Takes hours: smaller with BENCH_KEYS=100000 BENCH_ROUNDS=1.
BENCH_KEYS ?= 100000,1000000
BENCH_GROWTH_KEYS ?= 10000,100000,1000000,10000000
BENCH_DFLAT_KEYS ?= 40000
BENCH_ROUNDS ?= 5
BENCH_OUTPUT ?= Benchmarks/.build/figures
BENCH_OPTIONS ?=
ROOST_BENCH = Benchmarks/.build/release/roost-bench --rounds $(BENCH_ROUNDS) $(BENCH_OPTIONS)

bench:
	sh scripts/install-bench-dependencies
	$(SWIFT) build -c release --package-path Benchmarks --traits Peers --product roost-bench
	mkdir -p $(BENCH_OUTPUT)
	$(ROOST_BENCH) --suite dflat --keys $(BENCH_DFLAT_KEYS) --json $(BENCH_OUTPUT)/dflat.json
	$(ROOST_BENCH) --suite engines --keys $(BENCH_KEYS) --json $(BENCH_OUTPUT)/engines.json
	$(ROOST_BENCH) --suite growth --keys $(BENCH_GROWTH_KEYS) --json $(BENCH_OUTPUT)/growth.json
	scripts/plot-benchmarks $(BENCH_OUTPUT)/dflat.json $(BENCH_OUTPUT)/engines.json \
		$(BENCH_OUTPUT)/growth.json

# Shows that every workload runs on every engine; its figures mean nothing.
bench-quick:
	$(MAKE) bench BENCH_KEYS=5000 BENCH_GROWTH_KEYS=1000,5000 BENCH_DFLAT_KEYS=1000 \
		BENCH_ROUNDS=1 BENCH_OPTIONS="--operations 2000"

# Instructions per operation against the thresholds in the repository.
guard: guard-build
	Benchmarks/.build/release/roost-count guard Benchmarks/thresholds.json

guard-update: guard-build
	Benchmarks/.build/release/roost-count guard Benchmarks/thresholds.json --update

guard-build:
	sh scripts/install-bench-dependencies guard
	$(SWIFT) build -c release --package-path Benchmarks --product roost-count

format:
	$(SWIFT) format format --in-place --parallel --recursive $(FORMATTED)

lint:
	$(SWIFT) format lint --strict --parallel --recursive $(FORMATTED)

dependencies:
	sh scripts/install-dependencies

clean:
	rm -rf .build Examples/Client/.build Benchmarks/.build
