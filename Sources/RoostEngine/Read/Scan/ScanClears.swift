import RoostFormat

/// What the `clear`s of a view have removed.
struct ScanClears {
    /// Of the one dictionary that is scanned; zero where it was not cleared.
    private let sequence: UInt64
    /// By dictionary, where several are scanned.
    private let clears: [[UInt8]: UInt64]

    init(_ view: EngineView, _ range: RecordRange) {
        if range.prefix.isEmpty {
            clears = view.clears
            sequence = 0
        } else {
            clears = [:]
            sequence = view.clearedSequence(ofPrefix: range.prefix)
        }
    }

    @inline(__always)
    func hasRemoved(_ head: UnsafePointer<RecordHead>) -> Bool {
        if clears.isEmpty { return sequence > 0 && head.pointee.sequence < sequence }
        return hasRemovedOfSeveral(head.pointee)
    }

    @inline(never)
    private func hasRemovedOfSeveral(_ head: RecordHead) -> Bool {
        guard let (name, _) = splitRecordKey(head.key) else { return false }
        return head.sequence < clears[[UInt8(name.count)] + Array(name)] ?? 0
    }
}

extension EngineView {
    /// Which dictionaries were emptied, and by which batch. A clear becomes visible in all shards at
    /// once, and is forgotten, shard by shard, only where nothing is left that it could remove: so the
    /// first shard has every one that matters.
    var clears: [[UInt8]: UInt64] { parts[0].clears }

    func clearedSequence(ofPrefix prefix: [UInt8]) -> UInt64 {
        let clears = clears
        return clears.isEmpty ? 0 : clears[prefix] ?? 0
    }
}
