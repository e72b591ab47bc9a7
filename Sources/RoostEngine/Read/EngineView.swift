import RoostFormat
import RoostIO
import RoostSnapshot

/// All shards as they were at one moment, for looking at many keys.
///
/// Taken under every shard's mutex at once, and under `publication`, so no batch is in it by
/// half. It holds copies of the log tables (by reference, until the next write) and the
/// snapshots, and changes no more.
package struct EngineView: Sendable {
    fileprivate let shards: [ShardView]
    package let hashSeed: HashSeed
    fileprivate let clock: ExpiryClock

    /// The live records of one dictionary, in no order: `body` gets each key without its
    /// dictionary.
    package func forEachKey(
        in name: DictionaryName, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        for shard in shards {
            let scan = try ShardScan(shard, prefix: name.prefix, clock: clock)
            while let key = scan.key {
                try body(.init(rebasing: key[name.prefix.count...]))
                try scan.moveToNext()
            }
        }
    }

    /// The live records of one dictionary in the order of their keys' bytes.
    package func scan(_ name: DictionaryName) throws -> ViewScan {
        try ViewScan(shards.map { try ShardScan($0, prefix: name.prefix, clock: clock) })
    }

    /// The names of the dictionaries that have at least one key, in the order of their bytes.
    package func dictionaryNames() throws -> [[UInt8]] {
        var names: Set<[UInt8]> = []
        for shard in shards {
            let scan = try ShardScan(shard, prefix: [], clock: clock)
            while let key = scan.key, let (name, _) = splitRecordKey(key) {
                names.insert(Array(name))
                // The first key that no record key of this dictionary reaches: its prefix with
                // the last byte counted up.
                guard let next = successor(of: [UInt8(name.count)] + Array(name)) else { break }
                try next.withUnsafeBytes { try scan.move(to: $0) }
            }
        }
        return names.sorted { $0.lexicographicallyPrecedes($1) }
    }

    private func successor(of prefix: [UInt8]) -> [UInt8]? {
        var bytes = prefix
        while let last = bytes.popLast() {
            if last < .max { return bytes + [last + 1] }
        }
        return nil
    }
}

private struct ShardView: Sendable {
    let tables: [LogTable]
    let snapshots: SnapshotList
    let clears: [[UInt8]: UInt64]

    init(_ state: ShardState) {
        var state = state
        if !state.staged.isEmpty { state.foldResolved() }
        tables = [state.active] + (state.frozen.map { [$0] } ?? [])
        snapshots = state.snapshots
        clears = state.clears
    }
}

/// Steps through a shard's live records with a prefix, in order. For one user at a time.
package final class ShardScan {
    private let cursor: MergeCursor
    private let prefix: [UInt8]
    private let clears: [[UInt8]: UInt64]
    private let clock: ExpiryClock

    fileprivate init(_ view: ShardView, prefix: [UInt8], clock: ExpiryClock) throws {
        self.prefix = prefix
        self.clock = clock
        clears = view.clears
        let tables = view.tables.map { table in
            RecordRun(SortedTable(table) { hasPrefix($0.key, prefix) })
        }
        cursor = MergeCursor(tables + (try view.snapshots.snapshots.map { try RecordRun($0) }))
        try prefix.withUnsafeBytes { try cursor.move(to: $0) }
        try skipDead()
    }

    /// The current record key; `nil` at the end.
    var key: UnsafeRawBufferPointer? {
        guard let key = cursor.current?.key, hasPrefix(key, prefix) else { return nil }
        return key
    }

    func withValue<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
        // Not called at the end.
        try cursor.current!.withValue(body)
    }

    func moveToNext() throws {
        try cursor.moveToNext()
        try skipDead()
    }

    func move(to target: UnsafeRawBufferPointer) throws {
        try cursor.move(to: target)
        try skipDead()
    }

    private func skipDead() throws {
        while let run = cursor.current, hasPrefix(run.key, prefix), !isLive(run) {
            try cursor.moveToNext()
        }
    }

    private func isLive(_ run: RecordRun) -> Bool {
        guard run.isPut, clock.isLive(run.deadline) else { return false }
        guard !clears.isEmpty, let (name, _) = splitRecordKey(run.key),
            let cleared = clears[[UInt8(name.count)] + Array(name)]
        else { return true }
        return run.sequence >= cleared
    }
}

/// Steps through the live records of all shards in key order. For one user at a time.
package final class ViewScan {
    private let scans: [ShardScan]
    private var current: ShardScan?

    fileprivate init(_ scans: [ShardScan]) {
        self.scans = scans
        current = smallest()
    }

    /// The current record key; `nil` at the end.
    package var recordKey: UnsafeRawBufferPointer? { current?.key }

    /// Calls `body` with the current value, kind and payload.
    package func withValue<Result>(
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        // Not called at the end.
        try current!.withValue(body)
    }

    package func moveToNext() throws {
        try current?.moveToNext()
        current = smallest()
    }

    private func smallest() -> ShardScan? {
        var best: (scan: ShardScan, key: UnsafeRawBufferPointer)?
        for scan in scans {
            guard let key = scan.key else { continue }
            if best == nil || compareBytes(key, best!.key) < 0 { best = (scan, key) }
        }
        return best?.scan
    }
}

private func hasPrefix(_ key: UnsafeRawBufferPointer, _ prefix: [UInt8]) -> Bool {
    guard key.count >= prefix.count else { return false }
    return prefix.withUnsafeBytes { equalBytes($0, .init(rebasing: key[..<prefix.count])) }
}

extension Engine {
    /// All shards at this moment. Holds every shard's mutex while it copies references.
    package func view() throws -> EngineView {
        try condition.checkOpen()
        var views: [ShardView] = []
        publication.withLock { _ in collect(from: 0, into: &views) }
        return EngineView(shards: views, hashSeed: hashSeed, clock: clock)
    }

    /// Takes one mutex within the other, in the shards' order.
    private func collect(from index: Int, into views: inout [ShardView]) {
        guard index < shards.count else { return }
        shards[index].published.withLock { state in
            views.append(ShardView(state))
            collect(from: index + 1, into: &views)
        }
    }
}
