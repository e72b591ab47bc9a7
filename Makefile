# Everything a newcomer runs. Needs a Swift 6.2 toolchain; installs what else is missing.

SWIFT ?= swift
FORMATTED = Package.swift Sources Tests Examples/Client/Package.swift Examples/Client/Sources \
	$(wildcard Benchmarks/Package.swift Benchmarks/Sources)

.PHONY: demo test client bench format lint dependencies clean
.PHONY: prove crash simulate enumerate damage faults fuzz tsan asan mutations fixtures

# For the runs below: how many seeds and kills, which ones, and how long each fuzzer runs.
SEEDS ?= 20000
FIRST_SEED ?= 1
KILLS ?= 300
FUZZ_SECONDS ?= 60

# Imports real records, kills a writer, recovers, compacts, reads cold; prints what it took.
demo: dependencies
	$(SWIFT) run -c release roost demo --fixture Fixtures/packages.jsonl

# Builds and runs all tests, and the example client.
test: dependencies
	$(SWIFT) build --build-tests
	$(SWIFT) test
	$(MAKE) client

# What CI runs beside the suites: see docs/RELIABILITY.md for what each shows, and for more of it.
prove: simulate enumerate crash fuzz tsan
	$(SWIFT) run -c release roost-simulate damage --sample
	scripts/strace-faults --sample 30

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

# Every system call of the command fails once, and from then on.
faults: dependencies
	$(SWIFT) build --product roost
	scripts/strace-faults

fuzz: dependencies
	scripts/fuzz $(FUZZ_SECONDS)

# The suites under the thread and the address sanitizer; SANITIZED chooses some of them.
SANITIZED ?= RoostTests|RoostEngineTests|RoostLogTests|RoostSnapshotTests
tsan: dependencies
	$(SWIFT) test --sanitize thread --scratch-path .build-tsan --filter "$(SANITIZED)"

asan: dependencies
	$(SWIFT) test --sanitize address --scratch-path .build-asan --filter "$(SANITIZED)"

# Removes each sync and each checksum check in turn: do the tests tell? Takes an hour.
mutations: dependencies
	scripts/mutation-check --write docs/RELIABILITY.md

# Writes the stores in Fixtures/stores anew, after a change of the format.
fixtures: dependencies
	ROOST_WRITE_FIXTURES=1 $(SWIFT) test --filter FormatFixtureTests

client: dependencies
	$(SWIFT) run --package-path Examples/Client Client

bench: dependencies
	$(SWIFT) run -c release --package-path Benchmarks roost-bench

format:
	$(SWIFT) format format --in-place --parallel --recursive $(FORMATTED)

lint:
	$(SWIFT) format lint --strict --parallel --recursive $(FORMATTED)

dependencies:
	sh scripts/install-dependencies

clean:
	rm -rf .build .build-fuzz .build-tsan .build-asan Examples/Client/.build Benchmarks/.build
