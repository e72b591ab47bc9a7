import RoostFormat
import RoostSnapshot

// Samples of values, from which a compression dictionary is trained.

extension CompressionDictionary {
    /// A dictionary trained from values spread evenly over the table.
    static func trained(for table: SortedTable) -> CompressionDictionary {
        let stride = max(1, table.operations.count / sampleCount)
        var samples: [[UInt8]] = []
        for index in Swift.stride(from: 0, to: table.operations.count, by: stride) {
            addSample(table.operations[index].value, to: &samples)
        }
        return .train(samples: samples, recordCount: table.operations.count)
    }

    /// A dictionary trained from values spread evenly over a tier.
    static func trained(for tier: ColdTier, recordCount: Int) throws -> CompressionDictionary {
        let groupCount = tier.parts.reduce(0) { $0 + $1.snapshot.groupCount }
        let stride = max(1, groupCount / sampleCount)
        var samples: [[UInt8]] = []
        for snapshot in tier.parts.map(\.snapshot) {
            for index in Swift.stride(from: 0, to: snapshot.groupCount, by: stride) {
                try addSamples(
                    of: snapshot, group: index, atMost: max(1, sampleCount / groupCount),
                    to: &samples)
            }
        }
        return .train(samples: samples, recordCount: recordCount)
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
