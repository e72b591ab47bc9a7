# Everything a newcomer runs. Needs a Swift 6.2 toolchain; installs what else is missing.

SWIFT ?= swift
# Before Swift 6.4 the package manager names the traits of a package to the compiler in the order of a set, which is another
# in each process (its issue 10525): without this each call builds all of a package with several traits anew.
BUILD = SWIFT_DETERMINISTIC_HASHING=1 $(SWIFT) build
# For who builds to run all tests, rather than to change them: each of them as one module, and what stands under the store
# optimized (Package.swift). Whatever CI builds for a debugger has the same flags, so that it is built once.
BUILD_ONCE = ROOST_BUILT_ONCE=1 $(BUILD)
BUILD_TESTS = $(BUILD_ONCE) --build-tests
FORMATTED = Package.swift Sources Tests Examples/Client/Package.swift Examples/Client/Sources \
	Examples/Tasks/Package.swift Examples/Tasks/Sources \
	$(wildcard Benchmarks/Package.swift Benchmarks/Sources Benchmarks/Benchmarks) Extras/Package.swift Extras/Tests \
	Extras/Conformance Extras/EncryptionCost Extras/InspectorSample Extras/ReplicaRun \
	Examples/Server/Package.swift Examples/Server/Sources Examples/Fleet/Package.swift Examples/Fleet/Sources

.PHONY: demo test whole-runs one-processor check long long-proofs long-servers client tasks tasks-sample manual extras bench format lint dependencies clean
.PHONY: blocks docs bench-quick parts guard guard-update guard-build
.PHONY: objects-simulate objects-oracle objects-histories objects-building
.PHONY: full-disks bad-blocks power-cuts inspector platforms backup-figures prove-server server-sample
.PHONY: extras-dependencies replica replica-run replica-cost shared shared-faults shared-speed put-cost shared-sample shared-build fleet
.PHONY: prove live synced faults-sample import-faults crash followers simulate enumerate damage faults fuzz
.PHONY: storms tsan asan mutations mutations-shared fixtures

# For the runs below: how many seeds and kills, which ones, and how long each fuzzer runs.
SEEDS ?= 12000
FIRST_SEED ?= 1
KILLS ?= 300
FUZZ_SECONDS ?= 30

# Stores real records, kills a writer, recovers, compacts, reads cold; prints what it took.
demo: dependencies
	$(SWIFT) run -c release roost-demo --fixture Fixtures/packages.jsonl

# What every change must pass: builds and runs all suites. Under 10 minutes
# on two cores with nothing built before; what takes longer is in `prove` and `long`.
# Tests are built as whole modules; who changes one builds with `swift build --build-tests`, or by `make check`.
test: dependencies
	$(BUILD_TESTS)
	SWIFT="$(SWIFT)" scripts/test-suites

# The suites with random input, of which `test` runs a part, at their whole length.
WHOLE_RUNS = RangeSumTests|PlannerTests|QueryOracleTests|HistoryTests|LiveOracleTests|DescendingReadTests|KillTests|ModelTests
WHOLE_RUNS := $(WHOLE_RUNS)|SharedAggregateTests|BrokenEngineTests|BatchPartsTests|ScarceResourceTests
whole-runs: dependencies
	$(BUILD_TESTS)
	TEST_SECONDS=10000 ROOST_WHOLE_RUNS=1 SWIFT="$(SWIFT)" scripts/test-suites --filter "$(WHOLE_RUNS)"

# All suites with a pool of one thread, as on the smallest servers.
one-processor: dependencies
	$(BUILD_TESTS)
	SWIFT="$(SWIFT)" scripts/one-processor

# The minute before a commit: format, build, and the suites of what changed.
check:
	scripts/check

# All that every change must pass in CI, behind `test`: the clients of the extra products, a part of
# each of the long runs, and instructions counted against the thresholds.
long: extras-dependencies
	$(IN_TIME) extras-build env $(BUILD) --package-path Extras --build-tests
	scripts/side-by-side long-proofs long-servers

# What keeps the processors busy.
long-proofs:
	$(IN_TIME) client $(MAKE) client
	$(IN_TIME) guard sh -c '$(GUARD)'
	$(IN_TIME) prove $(MAKE) prove
	$(IN_TIME) docs $(MAKE) docs
	$(IN_TIME) platforms sh -c '$(PLATFORMS)'

# What mostly waits: for servers, terminals and a browser.
long-servers:
	$(IN_TIME) extras $(MAKE) extras
	$(IN_TIME) tasks $(MAKE) tasks-sample
	$(IN_TIME) inspector $(MAKE) inspector
	$(IN_TIME) server-sample $(MAKE) server-sample
	$(IN_TIME) shared-sample $(MAKE) shared-sample

# What is left out where ROOST_DEADLINE is over, which CI sets for slow machines.
IN_TIME = scripts/in-time

# Debian has the compiler and the emulation.
PLATFORMS = if command -v dpkg-query >/dev/null; then $(MAKE) platforms; fi

# The thresholds are of this system's instructions.
GUARD = case "$$(uname -sm)" in "Linux x86_64") $(MAKE) guard ;; esac

# A part of each run of docs/RELIABILITY.md, which says what each shows, and how to have all of it.
prove: dependencies
	scripts/prove $(SEEDS) $(FIRST_SEED) $(KILLS) $(FUZZ_SECONDS)

# Seeds over a simulated disk: operations, crashes, faults, and an oracle.
simulate: dependencies
	$(SWIFT) run -c release roost-simulate --seeds $(SEEDS) --first-seed $(FIRST_SEED)

# Objects with indexes over the simulated disk: every index is that of its objects.
objects-simulate: dependencies
	$(SWIFT) run -c release roost-simulate objects --seeds $(SEEDS) --first-seed $(FIRST_SEED)

# Random objects, indexes and queries beside `Array.filter` and a stable sort, and the planner's choices.
CASES ?= 200000
objects-oracle: dependencies
	ROOST_TEST_TARGETS=RoostObjectTests ROOST_QUERY_CASES=$(CASES) $(SWIFT) test -c release \
		--filter "QueryOracleTests|PlannerTests"

# Histories of objects, checked for strict serializability with phantoms.
HISTORIES ?= 5000
objects-histories: dependencies
	ROOST_TEST_TARGETS=RoostHistoryTests ROOST_OBJECT_HISTORIES=$(HISTORIES) $(SWIFT) test -c release \
		--filter ObjectHistoryTests

# The building of indexes over many objects: at rest, beside two writers, and through kills.
OBJECTS ?= 1000000
objects-building: dependencies
	$(SWIFT) run -c release roost-crash index --objects $(OBJECTS) --deaths 10

# Every state that a crash may leave of short workloads.
enumerate: dependencies
	$(SWIFT) run -c release roost-simulate enumerate

# Kills real writers; KILLS=20000 makes a long run of it.
crash: dependencies
	$(SWIFT) run -c release roost-crash --kills $(KILLS)

# Eight processes read beside a writer that is killed and started again; KILLS=200 takes ten minutes.
followers: dependencies
	$(SWIFT) run -c release roost-crash followers --kills $(KILLS) --seconds $$(($(KILLS) * 3))

# Puts with eight readers beside in other processes, and without, in turn: readers on the other processors, which
# shows what the put pays, and readers on all of them, which shows what so many programs cost each other too.
put-cost: dependencies
	$(SWIFT) run -c release roost-crash put-cost --apart
	$(SWIFT) run -c release roost-crash put-cost

# Every bit flipped and every length cut of small stores.
damage: dependencies
	$(SWIFT) run -c release roost-simulate damage

# Every system call of the command fails once, and from then on; a disk that is full.
faults: dependencies
	$(BUILD) --product roost
	scripts/strace-faults

# Imports are killed at every system call, and every one on the files fails.
FORMATS ?= plist,json,jsonl,csv,sqlite
import-faults: extras-dependencies
	$(BUILD) --package-path Extras --product roost
	scripts/import-faults --roost Extras/.build/debug/roost --formats $(FORMATS)

faults-sample: dependencies
	$(BUILD_ONCE) --product roost
	scripts/strace-faults --sample 30
	scripts/import-faults --formats plist,json,jsonl,csv --sample 60

# Real file systems in images, which takes root and their mkfs: full at every stage, with cut files and
# unreadable blocks, and halted under writers. They say what did not run.
CUTS ?= 100
DISKS = $(BUILD) -c release --product roost-disks && $(BUILD) -c release --product roost
full-disks: dependencies
	$(DISKS)
	scripts/full-disks

bad-blocks: dependencies
	$(DISKS)
	scripts/bad-blocks

power-cuts: dependencies
	$(DISKS)
	scripts/power-cuts --cuts $(CUTS)

# The example server under load, killed, ended, its disk full; Prometheus asks what its dashboard asks. Takes
# root for the disk, wrk and prometheus.
SERVER_MINUTES ?= 10
SERVER_KILLS ?= 50
SERVER_FULL ?= 2
prove-server: dependencies
	scripts/install-dependencies server
	$(BUILD) -c release --package-path Extras --product Server
	$(BUILD) --product roost
	scripts/prove-server --minutes $(SERVER_MINUTES) --kills $(SERVER_KILLS) --full $(SERVER_FULL)

# Half a minute of it beside its build, of a debug build. How soon it ends is for prove-server to show.
server-sample: extras-dependencies
	scripts/install-dependencies server
	$(BUILD) --package-path Extras --product Server
	$(BUILD_ONCE) --product roost
	scripts/prove-server --minutes 0.5 --kills 6 --full 1 --grace 60 --binary Extras/.build/debug/Server

# A backup of a store of which a hundredth has changed, against the one before: bytes, time, every checksum.
BACKUP_MEBIBYTES ?= 1024
backup-figures: dependencies
	$(BUILD) -c release --product roost-disks
	mkdir -p .build/backup-figures && rm -rf .build/backup-figures/*
	"$$($(BUILD) -c release --show-bin-path)/roost-disks" backup --timed \
		--mebibytes $(BACKUP_MEBIBYTES) .build/backup-figures
	rm -rf .build/backup-figures

# Live results beside a sort of all objects, over so many random transactions; and a thousand of them under
# writes for so many seconds, which must not take more and more memory.
LIVE_TRANSACTIONS ?= 200000
LIVE_SECONDS ?= 3600
live: dependencies
	$(BUILD_TESTS)
	ROOST_LIVE_TRANSACTIONS=$(LIVE_TRANSACTIONS) $(SWIFT) test --skip-build --filter LiveOracleTests
	ROOST_LIVE_SECONDS=$(LIVE_SECONDS) $(SWIFT) test --skip-build --filter LiveMemoryTests

# Devices that exchange objects while connections break, over so many schedules of edits.
SCHEDULES ?= 10000
synced: dependencies
	ROOST_SYNCED_SCHEDULES=$(SCHEDULES) ROOST_TEST_TARGETS=RoostSharedTests $(SWIFT) test \
		--filter SyncedRepositoryTests

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

# Removes each guard of shared workspaces in turn: do their tests tell, or the suite over real servers? Half an hour
# beside its build.
mutations-shared: extras-dependencies
	scripts/mutation-check --shared --write docs/RELIABILITY.md

# Writes the stores in Fixtures/stores anew, after a change of the format.
fixtures: dependencies
	ROOST_WRITE_FIXTURES=1 $(SWIFT) test --filter FormatFixtureTests

# Writes the code of README.md and the guides anew into the tests that run it.
blocks: dependencies
	$(SWIFT) run DocumentationBlocks

# Static pages of the library's documentation in .build-docs/site; fails at a warning, which a link that leads
# nowhere is, and at a public symbol without documentation.
docs: dependencies
	ROOST_DOCS=1 $(SWIFT) package --scratch-path .build-docs --allow-writing-to-directory .build-docs/site \
		generate-documentation --target Roost --output-path .build-docs/site \
		--transform-for-static-hosting --warnings-as-errors
	scripts/check-documentation

client: dependencies
	$(SWIFT) run --package-path Examples/Client Client
	scripts/check-alone Examples/Client

# A task list that redraws while other runs of it add, through a terminal of its own.
tasks: dependencies
	$(BUILD) --package-path Examples/Tasks
	Examples/Tasks/check-terminal Examples/Tasks/.build/debug/tasks

# The same, of what the extras have built.
tasks-sample: extras-dependencies
	$(SWIFT) package --package-path Examples/Tasks describe >/dev/null
	$(BUILD) --package-path Extras --product Tasks
	Examples/Tasks/check-terminal Extras/.build/debug/Tasks

# The manual page, from what the command says of itself.
manual: dependencies
	$(BUILD) --product roost
	scripts/manual .build/debug/roost > docs/roost.1

# What traits bring, each with its tests: builds swift-syntax, swift-protobuf and SwiftNIO, once.
extras: extras-dependencies
	$(BUILD) --package-path Extras --build-tests
	SWIFT="$(SWIFT)" scripts/test-suites --package-path Extras
	scripts/encrypted-command
	scripts/follow-command
	scripts/import-faults --roost Extras/.build/debug/roost --formats sqlite --sample 40
	$(SQLITE_TESTS)
	$(MAKE) replica

# Among the suites where ROOST_SQLITE is set, as CI does.
SQLITE_TESTS = $(if $(ROOST_SQLITE),,ROOST_TEST_TARGETS=RoostCommandTests $(SWIFT) test --traits SQLite --filter SQLiteImportTests)

extras-dependencies: dependencies
	scripts/install-dependencies shared

# The inspector in headless Chromium, on a store of so many keys: docs/INSPECTOR.md. INSPECTOR_OPTIONS may have
# `--screenshots docs/inspector`; INSPECTOR_CONFIGURATION=release is for many keys.
INSPECTOR_KEYS ?= 100000
INSPECTOR_CONFIGURATION ?= debug
INSPECTOR_OPTIONS ?=
# A page and a change are to be seen in 200 ms; a debug build beside other work may take longer.
INSPECTOR_LIMIT = $(if $(filter debug,$(INSPECTOR_CONFIGURATION)),--limit-ms 3000)
inspector: extras-dependencies
	sh scripts/install-inspector-dependencies
	$(BUILD) --package-path Extras -c $(INSPECTOR_CONFIGURATION) --product roost
	$(BUILD) --package-path Extras -c $(INSPECTOR_CONFIGURATION) --product inspector-sample
	.build-inspector-venv/bin/python scripts/inspector-browser --keys $(INSPECTOR_KEYS) \
		--binaries Extras/.build/$(INSPECTOR_CONFIGURATION) $(INSPECTOR_LIMIT) $(INSPECTOR_OPTIONS)

# The C parts on other processors and with other pages, in emulation: docs/PLATFORMS.md.
platforms:
	scripts/platforms

# Copies off the machine, to a real S3 server; their tests are among the extras. A machine that does much else may
# keep the copier waiting: that no more than the interval is lost is for replica-run to show.
replica: extras-dependencies
	$(BUILD) --package-path Extras --product replica-run
	scripts/install-replica-dependencies moto
	scripts/replica-run --minutes 0.6 --restores 12 --slack-ms 15000 --binaries Extras/.build/debug

# Copies to a real S3 server while everything fails; restores at random moments. SERVER=seaweedfs keeps its objects on
# disk and is killed too; SERVER=radosgw takes root.
MINUTES ?= 1
RESTORES ?= 40
SERVER ?= moto
replica-run: extras-dependencies
	$(BUILD) -c release --package-path Extras --product replica-run
	scripts/install-replica-dependencies $(SERVER)
	scripts/replica-run --minutes $(MINUTES) --restores $(RESTORES) --server $(SERVER)

# What a put executes beside a copy, and what is sent for each byte of log: docs/REPLICA.md. Takes valgrind.
replica-cost: extras-dependencies
	$(BUILD) -c release --package-path Extras --product replica-run
	scripts/replica-cost

# Shared workspaces over real servers, which scripts/shared-servers starts: the conformance suite over each kind.
SHARED = Extras/.build/debug/roost-conformance
SECONDS ?= 60

shared: shared-build
	scripts/shared-servers etcd 1 -- sh -c '$(SHARED) suite etcd $$ROOST_SERVERS && $(SHARED) removals etcd $$ROOST_SERVERS'
	scripts/shared-servers etcd 3 -- sh -c '$(SHARED) suite etcd $$ROOST_SERVERS'
	scripts/shared-servers postgres -- sh -c '$(SHARED) suite postgres $$ROOST_SERVERS && $(SHARED) removals postgres $$ROOST_SERVERS'
	scripts/shared-servers standby -- sh -c '$(SHARED) suite postgres $$ROOST_SERVERS'
	scripts/shared-servers standby -- sh -c '$(SHARED) connect postgres $$ROOST_STANDBY --deadline 3 | grep "^unavailable.*standby"'
	scripts/shared-servers standby -- scripts/shared-standby
	scripts/shared-servers postgres -- scripts/shared-settings
	scripts/shared-servers postgres -- env SWIFT_DETERMINISTIC_HASHING=1 $(SWIFT) test --package-path Extras --filter 'PostgresSweeperTests|PostgresCreationTests|PostgresIsolationTests|PostgresAbandonedTests'

# Histories while the servers are killed, paused, cut off, compacted and used up; SECONDS of each.
shared-faults: shared-build
	scripts/shared-faults etcd $(SECONDS)
	scripts/shared-faults postgres $(SECONDS)

# Calls a second beside the engines' own clients: etcd's for Go, and pgbench over the same statements. Takes
# Debian's golang-go and golang-etcd-server-dev; fifteen minutes beside its build.
shared-speed: extras-dependencies
	$(BUILD) -c release --package-path Extras --product roost-conformance
	scripts/shared-servers etcd 1 -- scripts/shared-speed etcd Extras/.build/release
	scripts/shared-servers postgres -- scripts/shared-speed postgres Extras/.build/release

# Under four minutes beside its build.
shared-sample: shared-build
	$(IN_TIME) "shared: etcd" scripts/shared-servers etcd 1 -- sh -c '$(SHARED) suite etcd $$ROOST_SERVERS && $(SHARED) removals etcd $$ROOST_SERVERS'
	$(IN_TIME) "shared: PostgreSQL" scripts/shared-servers postgres -- sh -c '$(SHARED) suite postgres $$ROOST_SERVERS && $(SHARED) removals postgres $$ROOST_SERVERS'
	$(IN_TIME) "shared: faults" scripts/shared-faults etcd 25
	$(IN_TIME) "shared: fleet" $(MAKE) fleet
	$(IN_TIME) "shared: command" scripts/shared-command
	$(IN_TIME) "shared: credentials" scripts/shared-credentials

# Examples/Fleet: three processes of a service over etcd, of which the one that leads is killed; half a minute beside its build.
fleet: extras-dependencies
	$(BUILD) --package-path Extras --product Fleet
	Examples/Fleet/run

shared-build: extras-dependencies
	$(BUILD) --package-path Extras --product roost-conformance
	$(BUILD) --package-path Extras --product roost

# Roost beside what people use today: figures as JSON, tables in docs/BENCHMARKS.md, plots.
# Takes hours: smaller with BENCH_KEYS=100000 BENCH_ROUNDS=1.
BENCH_KEYS ?= 100000,1000000
BENCH_GROWTH_KEYS ?= 10000,100000,1000000,10000000
BENCH_DFLAT_KEYS ?= 40000
BENCH_VALUE_KEYS ?= 100000
BENCH_ROUNDS ?= 5
BENCH_OUTPUT ?= Benchmarks/.build/figures
BENCH_OPTIONS ?=
ROOST_BENCH = Benchmarks/.build/release/roost-bench --rounds $(BENCH_ROUNDS) $(BENCH_OPTIONS)

bench:
	sh scripts/install-bench-dependencies
	$(BUILD) -c release --package-path Benchmarks --traits Peers --product roost-bench
	mkdir -p $(BENCH_OUTPUT)
	$(ROOST_BENCH) --suite dflat --keys $(BENCH_DFLAT_KEYS) --json $(BENCH_OUTPUT)/dflat.json
	$(ROOST_BENCH) --suite engines --keys $(BENCH_KEYS) --json $(BENCH_OUTPUT)/engines.json
	$(ROOST_BENCH) --suite growth --keys $(BENCH_GROWTH_KEYS) --json $(BENCH_OUTPUT)/growth.json
	$(ROOST_BENCH) --suite values --keys $(BENCH_VALUE_KEYS) --json $(BENCH_OUTPUT)/values.json
	scripts/plot-benchmarks $(BENCH_OUTPUT)/dflat.json $(BENCH_OUTPUT)/engines.json \
		$(BENCH_OUTPUT)/growth.json

# Shows that every workload runs on every engine; its figures mean nothing.
bench-quick:
	$(MAKE) bench BENCH_KEYS=5000 BENCH_GROWTH_KEYS=1000,5000 BENCH_DFLAT_KEYS=1000 \
		BENCH_VALUE_KEYS=100 BENCH_ROUNDS=1 BENCH_OPTIONS="--operations 2000"

# One call of each kind, for looking at one part while it is changed; PARTS chooses some of them.
PARTS ?= .*
parts: dependencies
	$(SWIFT) package --package-path Benchmarks benchmark --target RoostParts --filter "$(PARTS)"

# Instructions per operation against the thresholds in the repository.
guard: guard-build
	.build/release/roost-count guard Benchmarks/thresholds.json

guard-update: guard-build
	.build/release/roost-count guard Benchmarks/thresholds.json --update

guard-build:
	sh scripts/install-bench-dependencies guard
	ROOST_COUNT=1 $(BUILD) -c release --product roost-count

format:
	$(SWIFT) format format --in-place --parallel --recursive $(FORMATTED)

lint:
	$(SWIFT) format lint --strict --parallel --recursive $(FORMATTED)
	python3 scripts/mutation-check --marks

dependencies:
	sh scripts/install-dependencies

clean:
	rm -rf .build .build-docs .build-fuzz .build-inspector-venv .build-replica-venv .build-thread .build-address .build-mutations .build-mutations-shared \
		Benchmarks/.build Extras/.build Examples/*/.build
