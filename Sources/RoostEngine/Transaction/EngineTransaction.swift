import RoostFormat
import RoostIO
import RoostSnapshot

/// One attempt of a transaction: what it read, and the batch that it would commit.
///
/// - All reads are of one view, begun at the first of them; a key that the attempt has changed
///   itself is read from its batch.
/// - `latest` has the place in `batch.changes` of the last change of each hash.
package struct EngineTransaction: ~Copyable {
    private let engine: Engine
    package private(set) var batch: EncodedBatch
    package private(set) var reads: TransactionReads?
    private var latest: [UInt64: Int] = [:]
    private var keyOrder = ChangedKeyOrder()
    private var clearedDictionaries: Set<[UInt8]> = []

    package let hasTurn: Bool

    /// - Parameter hasTurn: Whether the attempt is made by a transaction that has its turn: then it does
    ///   not see what is enqueued and has no place among the changes yet, as that comes after it.
    package init(_ engine: Engine, hasTurn: Bool = false) {
        self.engine = engine
        self.hasTurn = hasTurn
        batch = EncodedBatch(hashSeed: engine.hashSeed)
    }

    private mutating func begunReads() throws -> EngineView {
        if let reads { return reads.view }
        let view = try engine.view(hidesEnqueued: hasTurn)
        reads = TransactionReads(view)
        return view
    }

    /// Lets writers forget what they kept for the reads.
    package func close() { reads?.view.close() }

    // MARK: Reading

    /// Calls `body` with the value of a key, kind and payload, or with `nil`.
    package mutating func withValue<Result>(
        _ key: String, name: DictionaryName, _ body: (UnsafeRawBufferPointer?) throws -> Result
    ) throws -> Result {
        switch ownChange(key, name) {
        case .put(let range):
            return try batch.withPayload { try body(.init(rebasing: $0[range])) }
        case .removed: return try body(nil)
        case .unchanged:
            let view = try noteRead(key, name)
            guard let found = try view.find(key, name: name) else { return try body(nil) }
            reads?.note(found.deadline)
            return try found.withBytes { try body($0) }
        }
    }

    package mutating func contains(_ key: String, name: DictionaryName) throws -> Bool {
        switch ownChange(key, name) {
        case .put: true
        case .removed: false
        case .unchanged: try containsUnchanged(key, name)
        }
    }

    private mutating func containsUnchanged(_ key: String, _ name: DictionaryName) throws -> Bool {
        guard let deadline = try noteRead(key, name).deadline(of: key, name: name) else {
            return false
        }
        reads?.note(deadline)
        return true
    }

    private mutating func noteRead(_ key: String, _ name: DictionaryName) throws -> EngineView {
        let view = try begunReads()
        name.withRecordKey(key) { recordKey in
            reads?.note(recordKey, hash: engine.hashSeed.hash(recordKey), in: name)
        }
        return view
    }

    /// How many keys a dictionary has.
    package mutating func count(of name: DictionaryName) throws -> Int {
        let range = RecordRange(name)
        if clearedDictionaries.contains(name.prefix) { return ownPutCount(in: range) }
        let view = try begunReads()
        reads?.note(range, of: range)
        let (count, deadline) = try view.countLive(in: name)
        reads?.note(deadline)
        return count + (try ownChange(in: range, of: view))
    }

    /// How many keys are in `range`, which is of one dictionary; `nil` where only a scan tells.
    package mutating func count(in range: RecordRange) throws -> Int? {
        if clearedDictionaries.contains(range.prefix) { return ownPutCount(in: range) }
        let view = try begunReads()
        guard let stored = try view.countLive(in: range) else { return nil }
        reads?.note(range, of: range)
        reads?.note(stored.earliestDeadline)
        return stored.count + (try ownChange(in: range, of: view))
    }

    private mutating func ownPutCount(in range: RecordRange) -> Int {
        ownChanges(in: range).count { batch.isPut(at: $0, clock: engine.clock) }
    }

    /// By how many what this transaction changes makes a count another than that of its view.
    private mutating func ownChange(in range: RecordRange, of view: EngineView) throws -> Int {
        try ownChanges(in: range).reduce(0) { change, own in
            let own = ownKey(own)
            let wasThere = try view.contains(recordKey: own.key, range.prefix)
            return change + (own.isPut ? 1 : 0) - (wasThere ? 1 : 0)
        }
    }

    /// Calls `body` with the keys in `range` and their values, kind and payload, in order, at most
    /// `limit` of them, until it says `false`.
    package mutating func scan(
        _ range: RecordRange, _ order: ScanOrder, limit: Int,
        _ body: (_ recordKey: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws ->
            Bool
    ) throws {
        guard limit > 0 else { return }
        var left = ownChanges(in: range)
        func popOwn() -> OwnKey? {
            (order == .ascending ? left.popFirst() : left.popLast()).map { ownKey($0) }
        }
        var own = popOwn()
        var scan: ViewScan?
        if !clearedDictionaries.contains(range.prefix) {
            scan = try begunReads().scan(range, order)
        }
        var count = 0
        var isStopped = false
        var isAtEnd = false
        var last: [UInt8] = []
        // Also where the body throws: what it was shown it may rest on. After that nothing was looked at.
        defer {
            if scan != nil {
                let isWhole = isAtEnd || last.isEmpty
                reads?.note(isWhole ? range : range.cut(behind: last, order), of: range)
            }
        }
        while count < limit, !isStopped {
            let stored = scan?.recordKey
            let change = own
            var comparison = stored == nil ? 1 : -1
            if let stored, let change {
                comparison = change.key.withUnsafeBytes { compareBytes(stored, $0) }
                if order == .descending { comparison = -comparison }
            }
            guard let key = comparison < 0 ? stored.map({ Array($0) }) : change?.key else {
                isAtEnd = true
                break
            }
            if comparison >= 0 { own = popOwn() }
            let value = comparison < 0 ? nil : change?.value
            if comparison < 0 || value != nil {
                count += 1
                last = key
            }
            try key.withUnsafeBytes { key in
                if comparison < 0 {
                    reads?.note(scan?.deadline ?? .never)
                    isStopped = try scan?.withValue { try !body(key, $0) } ?? false
                } else if let value {
                    isStopped = try batch.withPayload {
                        try !body(key, .init(rebasing: $0[value]))
                    }
                }
            }
            if comparison <= 0 { try scan?.moveToNext() }
        }
    }

    // MARK: What the attempt changed itself

    private enum OwnChange {
        case put(Range<Int>)
        case removed
        case unchanged
    }

    private struct OwnKey {
        let key: [UInt8]
        /// In the batch's payload; `nil` where the key is removed.
        let value: Range<Int>?
        var isPut: Bool { value != nil }
    }

    private func ownChange(_ key: String, _ name: DictionaryName) -> OwnChange {
        let change = name.withRecordKey(key) { recordKey in
            let hash = engine.hashSeed.hash(recordKey)
            return latest[hash].flatMap {
                batch.change(at: $0, hash: hash, of: recordKey, clock: engine.clock)
            }
        }
        if let change { return change.value.map { .put($0) } ?? .removed }
        return clearedDictionaries.contains(name.prefix) ? .removed : .unchanged
    }

    /// The attempt's last changes of the keys in `range`, in their order.
    private mutating func ownChanges(in range: RecordRange) -> ArraySlice<Int> {
        let changes = batch.changes
        if changes.isEmpty { return [] }
        return batch.withPayload { payload in
            keyOrder.changes(in: range, count: changes.count) { changes[$0].key(in: payload) }
        }
    }

    private func ownKey(_ change: Int) -> OwnKey {
        let (key, value) = batch.change(at: change, clock: engine.clock)
        return OwnKey(key: key, value: value)
    }

    // MARK: Changing

    package mutating func put(
        _ value: EncodedValue, forKey key: String, in name: DictionaryName
    ) throws {
        batch.put(value, forKey: key, in: name)
        try noteChange()
    }

    package mutating func remove(_ key: String, in name: DictionaryName) throws {
        batch.remove(key, in: name)
        try noteChange()
    }

    /// Removes what the dictionary holds, what the attempt itself has put included.
    package mutating func clear(_ name: DictionaryName) throws {
        try asOne { transaction in
            // In a batch a clear comes before all puts, wherever it stands.
            for change in transaction.ownChanges(in: RecordRange(name))
            where transaction.batch.isPut(at: change, clock: transaction.engine.clock) {
                let own = transaction.ownKey(change)
                try transaction.remove(
                    String(decoding: own.key.dropFirst(name.prefix.count), as: UTF8.self), in: name)
            }
            guard !transaction.clearedDictionaries.contains(name.prefix) else { return }
            transaction.batch.clear(name)
            try transaction.batch.throwFailure()
            transaction.clearedDictionaries.insert(name.prefix)
        }
    }

    /// Makes several changes of which none is left where one of them fails.
    private mutating func asOne<Result>(
        _ body: (inout EngineTransaction) throws -> Result
    ) throws -> Result {
        let extent = batch.extent
        do { return try body(&self) } catch {
            takeBack(to: extent)
            throw error
        }
    }

    /// How much the attempt has changed, to go back to by `takeBack(to:)`.
    package var extent: EncodedBatch.Extent { batch.extent }

    /// Takes back what the attempt has put and removed since. What it has read stays read.
    package mutating func takeBack(to extent: EncodedBatch.Extent) {
        batch.shrink(to: extent)
        clearedDictionaries = Set(batch.clears)
        keyOrder.removeAll()
        latest.removeAll(keepingCapacity: true)
        for index in batch.changes.indices { latest[batch.changes[index].hash] = index }
    }

    private mutating func noteChange() throws {
        try batch.throwFailure()
        if let last = batch.changes.last { latest[last.hash] = batch.changes.count - 1 }
    }
}

// Records by their whole keys, as indexes have them.
extension EngineTransaction {
    /// Says that the batch keeps what is derived of the dictionaries that it changes, as far as these
    /// marks tell it.
    package mutating func keep(_ marks: Set<[UInt8]>) { batch.keptMarks.formUnion(marks) }

    /// Adds to the batch the marks that it takes away.
    package mutating func complete() { engine.guards.complete(&batch) }

    /// The moment of the reads.
    package mutating func readingView() throws -> EngineView { try begunReads() }

    /// Whether the attempt has changed a dictionary by its keys, so that what is derived of it is not
    /// what the attempt reads.
    package func hasPlainChanges(of name: DictionaryName) -> Bool {
        batch.plainDictionaries.contains(name.prefix) || clearedDictionaries.contains(name.prefix)
    }

    /// Puts, or with no value removes, a record, whose key behind the dictionary's prefix consists of these
    /// parts.
    package mutating func write(
        _ value: EncodedValue?, in name: DictionaryName, _ key: [UInt8], _ suffix: [UInt8] = []
    ) throws {
        batch.write(value, in: name, key, suffix)
        try noteChange()
    }

    /// Calls `body` with the value of a record, kind and payload, or with `nil`.
    package mutating func withValue<Result>(
        recordKey: [UInt8], in name: DictionaryName,
        _ body: (UnsafeRawBufferPointer?) throws -> Result
    ) throws -> Result {
        let hash = recordKey.withUnsafeBytes { engine.hashSeed.hash($0) }
        let own = latest[hash].flatMap { index in
            recordKey.withUnsafeBytes {
                batch.change(at: index, hash: hash, of: $0, clock: engine.clock)
            }
        }
        if let own {
            guard let range = own.value else { return try body(nil) }
            return try batch.withPayload { try body(.init(rebasing: $0[range])) }
        }
        if clearedDictionaries.contains(name.prefix) { return try body(nil) }
        let view = try begunReads()
        recordKey.withUnsafeBytes { reads?.note($0, hash: hash, in: name) }
        guard let found = try view.find(recordKey: recordKey, in: name) else {
            return try body(nil)
        }
        reads?.note(found.deadline)
        return try found.withBytes { try body($0) }
    }
}

extension EncodedBatch {
    /// The key of a change, and where its value stands in the payload; `nil` for a removal, and
    /// for a value that has expired.
    func change(at index: Int, clock: ExpiryClock) -> (key: [UInt8], value: Range<Int>?) {
        withPayload { bytes in
            let begin = changes[index].frameOffset - Frame.headerSizeBytes
            let operation = Operation(address: bytes.baseAddress! + begin)
            let valueBegin = begin + Operation.headerSizeBytes + operation.keyCount
            let value = valueBegin..<(valueBegin + operation.valueCount)
            return (
                Array(operation.key),
                operation.isPut && clock.isLive(operation.deadline) ? value : nil
            )
        }
    }

    /// Whether a change is a put of a value that has not expired.
    func isPut(at index: Int, clock: ExpiryClock) -> Bool {
        withPayload { payload in
            let operation = changes[index].operation(in: payload)
            return operation.isPut && clock.isLive(operation.deadline)
        }
    }

    /// The last change of a key, which is at `index` or, where another key has its hash, before.
    func change(
        at index: Int, hash: UInt64, of key: UnsafeRawBufferPointer, clock: ExpiryClock
    ) -> (key: [UInt8], value: Range<Int>?)? {
        for candidate in changes[...index].indices.reversed() where changes[candidate].hash == hash
        {
            let found = change(at: candidate, clock: clock)
            if found.key.withUnsafeBytes({ equalBytes($0, key) }) { return found }
        }
        return nil
    }
}

extension EncodedBatch.Change {
    /// Where it stands in the payload of its batch.
    fileprivate func operation(in payload: UnsafeRawBufferPointer) -> Operation {
        Operation(
            address: payload.baseAddress.unsafelyUnwrapped + frameOffset - Frame.headerSizeBytes)
    }

    fileprivate func key(in payload: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        operation(in: payload).key
    }
}

extension RecordRange {
    /// What a scan in this order has looked at when `last` was the last key that it gave.
    func cut(behind last: [UInt8], _ order: ScanOrder) -> RecordRange {
        switch order {
        case .ascending: RecordRange(prefix: prefix, lower: lower, upper: last + [0])
        case .descending: RecordRange(prefix: prefix, lower: last, upper: upper)
        }
    }
}
