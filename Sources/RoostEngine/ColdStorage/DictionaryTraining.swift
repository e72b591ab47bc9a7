import RoostFormat
import RoostSnapshot

// Samples of values, from which a compression dictionary is trained.

extension CompressionDictionary {
    /// A dictionary trained from values spread evenly over the table.
    static func trained(for table: SortedTable) -> CompressionDictionary {
        var samples: [[UInt8]] = []
        forEachSampled(of: table.operations.count, wanted: sampleCount) { index in
            addSample(table.operations[index].value, to: &samples)
        }
        return .train(samples: samples, recordCount: table.operations.count)
    }

    /// A dictionary trained from values spread evenly over a tier.
    static func trained(for tier: ColdTier, recordCount: Int) throws -> CompressionDictionary {
        let groupCount = tier.parts.reduce(0) { $0 + $1.snapshot.groupCount }
        var samples: [[UInt8]] = []
        for snapshot in tier.parts.map(\.snapshot) {
            try forEachSampled(
                of: snapshot.groupCount, wanted: sampleCount * snapshot.groupCount / groupCount
            ) { index in
                try addSamples(
                    of: snapshot, group: index, atMost: max(1, sampleCount / groupCount),
                    to: &samples)
            }
        }
        return .train(samples: samples, recordCount: recordCount)
    }

    /// Calls `body` with about `wanted` of `count` indices, one out of each of as many equal parts. Where in its part it is
    /// differs from part to part: keys often follow each other in a pattern, of which equal steps would meet one kind alone.
    private static func forEachSampled(
        of count: Int, wanted: Int, _ body: (_ index: Int) throws -> Void
    ) rethrows {
        let step = max(1, count / max(1, wanted))
        for begin in stride(from: 0, to: count, by: step) {
            // Fibonacci hashing.
            let hash = (UInt64(begin) &* 0x9e37_79b9_7f4a_7c15) >> 33
            let index = begin + Int(hash % UInt64(step))
            if index < count { try body(index) }
        }
    }

    private static let sampleCount = 1024
    private static let sampleSizeBytes = 1024

    private static func addSamples(
        of snapshot: SnapshotReader, group index: Int, atMost limit: Int,
        to samples: inout [[UInt8]]
    ) throws {
        var cursor = try snapshot.cursor(try snapshot.group(index))
        var taken = 0
        while !cursor.isAtEnd, taken < limit, let record = cursor.next() {
            guard record.isPut else { continue }
            try snapshot.withValue(of: record) { addSample($0, to: &samples) }
            taken += 1
        }
    }

    private static func addSample(_ value: UnsafeRawBufferPointer, to samples: inout [[UInt8]]) {
        let value = value.dropFirst(ValueHeader.uncompressedCount(value))
        guard value.count >= ValueCompressor.minimumSizeBytes else { return }
        samples.append(Array(value.prefix(sampleSizeBytes)))
    }
}
