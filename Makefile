# Everything a newcomer runs. Needs a Swift 6.2 toolchain; installs what else is missing.

SWIFT ?= swift
FORMATTED = Package.swift Sources Tests Examples/Client/Package.swift Examples/Client/Sources \
	$(wildcard Benchmarks/Package.swift Benchmarks/Sources Benchmarks/Benchmarks) Extras/Package.swift Extras/Tests

# Tests that all begin at once share the processor, and on a busy machine run into their time limits.
FEW_AT_A_TIME = SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8

.PHONY: demo test client extras bench format lint dependencies clean
.PHONY: bench-quick parts guard guard-update guard-build
.PHONY: prove faults-sample crash simulate enumerate damage faults fuzz storms tsan asan mutations fixtures

# For the runs below: how many seeds and kills, which ones, and how long each fuzzer runs.
SEEDS ?= 20000
FIRST_SEED ?= 1
KILLS ?= 300
FUZZ_SECONDS ?= 60

# Imports real records, kills a writer, recovers, compacts, reads cold; prints what it took.
demo: dependencies
	$(SWIFT) run -c release roost demo --fixture Fixtures/packages.jsonl

# What every change must pass: builds and runs all tests, the example client, the clients of the
# extra products, a part of each of the long runs, and counts instructions against the thresholds.
# Took 27 minutes on two busy cores, of which 40 of processor, with nothing built before.
test: dependencies
	$(SWIFT) build --build-tests
	$(FEW_AT_A_TIME) $(SWIFT) test --skip-build
	$(MAKE) client
	$(MAKE) extras
	$(MAKE) prove
	$(GUARD)

# The thresholds are of this system's instructions.
GUARD = case "$$(uname -sm)" in "Linux x86_64") $(MAKE) guard ;; esac

# A part of each run of docs/RELIABILITY.md, which says what each shows, and how to have all of it.
prove: dependencies
	scripts/prove $(SEEDS) $(FIRST_SEED) $(KILLS) $(FUZZ_SECONDS)

# Seeds over a simulated disk: operations, crashes, faults, and an oracle.
simulate: dependencies
	$(SWIFT) run -c release roost-simulate --seeds $(SEEDS) --first-seed $(FIRST_SEED)

# Every state that a crash may leave of short workloads.
enumerate: dependencies
	$(SWIFT) run -c release roost-simulate enumerate

# Kills real writers; KILLS=20000 makes a long run of it.
crash: dependencies
	$(SWIFT) run -c release roost-crash --kills $(KILLS)

# Every bit flipped and every length cut of small stores.
damage: dependencies
	$(SWIFT) run -c release roost-simulate damage

# Every system call of the command fails once, and from then on; a disk that is full.
faults: dependencies
	$(SWIFT) build --product roost
	scripts/strace-faults

faults-sample: dependencies
	$(SWIFT) build --product roost
	scripts/strace-faults --sample 30

fuzz: dependencies
	scripts/fuzz $(FUZZ_SECONDS)

# The suites under the thread and the address sanitizer; SANITIZED chooses some of them.
SANITIZED ?= RoostTests,RoostEngineTests,RoostHistoryTests,RoostLogTests,RoostSnapshotTests,RoostIOTests,RoostFormatTests,RoostCodingTests
tsan: dependencies
	scripts/sanitized-tests thread $(SANITIZED)

asan: dependencies
	scripts/sanitized-tests address $(SANITIZED)

# The storms of cancelled writers, loads and watchers, under the thread sanitizer.
storms: dependencies
	scripts/sanitized-tests thread RoostTests StormTests

# Removes each sync and each checksum check in turn: do the tests tell? Takes an hour.
mutations: dependencies
	scripts/mutation-check --write docs/RELIABILITY.md

# Writes the stores in Fixtures/stores anew, after a change of the format.
fixtures: dependencies
	ROOST_WRITE_FIXTURES=1 $(SWIFT) test --filter FormatFixtureTests

client: dependencies
	$(SWIFT) run --package-path Examples/Client Client

# The macro and protobuf messages: builds swift-syntax and swift-protobuf, once.
extras: dependencies
	$(SWIFT) test --package-path Extras

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

# One call of each kind, for looking at one part while it is changed; PARTS chooses some of them.
PARTS ?= .*
parts: dependencies
	$(SWIFT) package --package-path Benchmarks benchmark --target RoostParts --filter "$(PARTS)"

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
	python3 scripts/mutation-check --marks

dependencies:
	sh scripts/install-dependencies

clean:
	rm -rf .build .build-fuzz .build-thread .build-address .build-mutations Examples/Client/.build \
		Benchmarks/.build Extras/.build
