import RoostFormat

/// What the `clear`s of a view have removed.
struct ScanClears {
    private let parts: [ViewPart]
    private let hashSeed: HashSeed
    /// By shard, of the one dictionary that is scanned; `nil` where it is several, empty where
    /// none was cleared.
    private let sequences: [UInt64]?

    init(_ view: EngineView, _ range: RecordRange) {
        parts = view.parts
        hashSeed = view.hashSeed
        let isAny = view.parts.contains { !$0.clears.isEmpty }
        if !isAny {
            sequences = []
        } else if range.prefix.isEmpty {
            sequences = nil
        } else {
            sequences = view.parts.map { $0.clears[range.prefix] ?? 0 }
        }
    }

    @inline(__always)
    func hasRemoved(_ head: UnsafePointer<RecordHead>) -> Bool {
        if let sequences, sequences.isEmpty { return false }
        return hasRemoved(head.pointee)
    }

    @inline(never)
    private func hasRemoved(_ head: RecordHead) -> Bool {
        let shard = shardIndex(of: hashSeed.hash(head.key), shardCount: parts.count)
        if let sequences { return head.sequence < sequences[shard] }
        let clears = parts[shard].clears
        guard !clears.isEmpty, let (name, _) = splitRecordKey(head.key) else { return false }
        return head.sequence < clears[[UInt8(name.count)] + Array(name)] ?? 0
    }
}
