import Benchmark
import Foundation
import Roost
import RoostCoding
import RoostSamples

/// One call of each kind, as `swift package --package-path Benchmarks benchmark` measures it.
///
/// The comparison with other engines is `roost-bench`; this is for looking at one part while it is
/// changed: `benchmark baseline update before`, then `benchmark baseline compare before`.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock, .throughput], scalingFactor: .kilo,
        maxDuration: .seconds(3), maxIterations: 500)
    measureWrites()
    measureReads()
    measureScans()
    measureCoders()
}

private func measureWrites() {
    Benchmark("put") { benchmark, store in
        for index in benchmark.scaledIterations {
            try await store.bytes.set(Sample.value(index), forKey: Sample.key(index))
        }
    } setup: {
        try await PartsStore(keyCount: 0)
    }

    Benchmark("put, a struct") { benchmark, store in
        for index in benchmark.scaledIterations {
            try await store.records.set(SampleRecord(index), forKey: Sample.key(index))
        }
    } setup: {
        try await PartsStore(keyCount: 0)
    }

    Benchmark("enqueue") { benchmark, store in
        for index in benchmark.scaledIterations {
            store.bytes.enqueue(Sample.value(index), forKey: Sample.key(index))
        }
    } setup: {
        try await PartsStore(keyCount: 0)
    }

    Benchmark(
        "put, synced", configuration: .init(scalingFactor: .one, maxDuration: .seconds(2))
    ) { benchmark, store in
        for index in benchmark.scaledIterations {
            try await store.bytes.set(
                Sample.value(index), forKey: Sample.key(index), durability: .synced)
        }
    } setup: {
        try await PartsStore(keyCount: 0)
    }

    Benchmark("batch of 1,000") { benchmark, store in
        try await store.bytes.setAll(
            benchmark.scaledIterations.map { (Sample.key($0), Sample.value($0)) })
    } setup: {
        try await PartsStore(keyCount: 0)
    }
}

private func measureReads() {
    Benchmark("get, resident") { benchmark, store in
        for index in benchmark.scaledIterations {
            blackHole(try store.bytes.value(forKey: Sample.key(index), as: [UInt8].self))
        }
    } setup: {
        try await PartsStore.warm(keyCount: 1000)
    }

    // No memory for decoded values: each read goes to the snapshot.
    Benchmark("get, cold") { benchmark, store in
        for index in benchmark.scaledIterations {
            blackHole(
                try store.bytes.value(forKey: Sample.key(index * 97 % 100_000), as: [UInt8].self))
        }
    } setup: {
        try await PartsStore(keyCount: 100_000, memoryBudgetBytes: 0)
    }

    Benchmark("absent") { benchmark, store in
        for index in benchmark.scaledIterations {
            blackHole(try store.bytes.contains(Sample.key(200_000 + index)))
        }
    } setup: {
        try await PartsStore(keyCount: 100_000)
    }
}

private func measureScans() {
    Benchmark("scan of 100,000 entries", configuration: .init(scalingFactor: .one)) {
        benchmark, store in
        for _ in benchmark.scaledIterations {
            for try await entry in store.bytes.entries(as: [UInt8].self) { blackHole(entry) }
        }
    } setup: {
        try await PartsStore(keyCount: 100_000)
    }

    Benchmark("open and first value", configuration: .init(scalingFactor: .one)) {
        benchmark, store in
        for index in benchmark.scaledIterations {
            let opened = try await Workspace.open(at: store.path)
            blackHole(
                try opened.dictionary("bytes").value(forKey: Sample.key(index), as: [UInt8].self))
            try await opened.close()
        }
    } setup: {
        try await PartsStore.closed(keyCount: 100_000)
    }
}

private func measureCoders() {
    Benchmark("encode a struct") { benchmark in
        let record = SampleRecord(1)
        let coder = RoostCoder()
        for _ in benchmark.scaledIterations { blackHole(try coder.encode(record)) }
    }

    Benchmark("decode a struct") { benchmark in
        let coder = RoostCoder()
        let bytes = try coder.encode(SampleRecord(1))
        benchmark.startMeasurement()
        for _ in benchmark.scaledIterations {
            blackHole(try coder.decode(SampleRecord.self, from: bytes))
        }
    }
}
