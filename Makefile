# Everything a newcomer runs. Needs a Swift 6.2 toolchain; installs what else is missing.

SWIFT ?= swift
FORMATTED = Package.swift Sources Tests Examples/Client/Package.swift Examples/Client/Sources \
	$(wildcard Benchmarks/Package.swift Benchmarks/Sources)

.PHONY: demo test client bench format lint dependencies clean

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

bench: dependencies
	$(SWIFT) run -c release --package-path Benchmarks roost-bench

format:
	$(SWIFT) format format --in-place --parallel --recursive $(FORMATTED)

lint:
	$(SWIFT) format lint --strict --parallel --recursive $(FORMATTED)

dependencies:
	sh scripts/install-dependencies

clean:
	rm -rf .build Examples/Client/.build Benchmarks/.build
