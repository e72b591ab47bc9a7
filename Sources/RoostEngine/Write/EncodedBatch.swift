import RoostFormat
import RoostIO

/// The operations that commit together, laid out as the payload of their frame.
///
/// - `changes` holds one entry per put and remove, in the order of the calls; of several on one
///   key the last counts.
/// - `memory` is the payload and, after its `payloadCount` bytes, room for more: zeroed in large
///   pieces, as zeroing it for each operation cost as much as writing the operation.
package struct EncodedBatch: Sendable {
    package struct Change: Sendable {
        let hash: UInt64
        /// From the begin of the frame.
        let frameOffset: Int
    }

    private var memory: [UInt8] = []
    package private(set) var payloadCount = 0
    package private(set) var changes: [Change] = []
    /// The dictionaries that the puts and removes are in, by prefix.
    package private(set) var dictionaries: Set<[UInt8]> = []
    /// Those of them that were written by their keys, by callers that keep no marks.
    private(set) var plainDictionaries: Set<[UInt8]> = []
    /// The dictionaries that are emptied, before the puts that follow in the batch.
    package private(set) var clears: [[UInt8]] = []
    /// The marks of guarded dictionaries that the batch keeps, and the generation of the guards that it
    /// was completed for. See `WriteGuards`.
    package var keptMarks: Set<[UInt8]> = []
    var guardGeneration: UInt64 = 0
    /// The marks that it takes away as `WriteGuards.complete` found them.
    var removedMarks: Set<[UInt8]> = []
    /// The first thing that was wrong with a call; reported when the batch is committed.
    package private(set) var failure: RoostError?
    private let hashSeed: HashSeed
    /// How much is zeroed ahead at most.
    private static let largestStepBytes = 1 << 20
    /// The dictionary of the last operation: most batches have one for all.
    private var lastName: DictionaryName?
    /// The first dictionaries of records that were written by their whole keys: looking here costs less than
    /// hashing a prefix for each.
    private var recordNames: [DictionaryName] = []
    private static let recordNameLimit = 8

    package init(hashSeed: HashSeed) { self.hashSeed = hashSeed }

    package var isEmpty: Bool { changes.isEmpty && clears.isEmpty }
    package var operationCount: Int { changes.count + clears.count }

    package mutating func put(_ value: EncodedValue, forKey key: String, in name: DictionaryName) {
        if let error = checkSizes(key: key, value: value) { return fail(error) }
        append(value.operationKind, key, name, valueCount: value.count) { value.write(to: $0) }
    }

    package mutating func remove(_ key: String, in name: DictionaryName) {
        if let error = checkSizes(key: key, value: nil) { return fail(error) }
        append(.remove, key, name, valueCount: 0) { _ in }
    }

    /// Puts, or with no value removes, a record by its whole key, which begins with the name's prefix.
    package mutating func write(
        _ value: EncodedValue?, recordKey: [UInt8], in name: DictionaryName
    ) {
        appendRecord(value, recordKey, [])
        noteRecord(in: name)
    }

    /// As the other, of a key that behind the name's prefix consists of these parts.
    package mutating func write(
        _ value: EncodedValue?, in name: DictionaryName, _ key: [UInt8], _ suffix: [UInt8]
    ) {
        appendRecord(value, name.prefix, key, suffix)
        noteRecord(in: name)
    }

    private mutating func noteRecord(in name: DictionaryName) {
        if recordNames.contains(where: { $0 === name }) { return }
        if recordNames.count < Self.recordNameLimit { recordNames.append(name) }
        dictionaries.insert(name.prefix)
    }

    mutating func removeMark(_ recordKey: [UInt8]) {
        appendRecord(nil, recordKey, [])
        // Who watches the marks is told where all of the batch is one shard's, too.
        dictionaries.insert(recordKey.withUnsafeBytes { Array(dictionaryPrefix(of: $0)) })
    }

    private mutating func appendRecord(
        _ value: EncodedValue?, _ prefix: [UInt8], _ key: [UInt8], _ suffix: [UInt8] = []
    ) {
        let hashSeed = hashSeed
        let keyCount = prefix.count + key.count + suffix.count
        let change = layOut(
            value?.operationKind ?? .remove, keyCount: keyCount, valueCount: value?.count ?? 0
        ) { keyStart, frameOffset in
            keyStart.copy(prefix)
            (keyStart + prefix.count).copy(key)
            (keyStart + prefix.count + key.count).copy(suffix)
            value?.write(to: keyStart + keyCount)
            let hash = hashSeed.hash(.init(start: keyStart, count: keyCount))
            return Change(hash: hash, frameOffset: frameOffset)
        }
        if let change { changes.append(change) }
    }

    /// Removes what the dictionary held before the batch. What the batch itself puts stays, so a
    /// clear counts wherever it stands.
    package mutating func clear(_ name: DictionaryName) {
        let prefix = name.prefixBytes
        let cleared: Void? = layOut(.clear, keyCount: prefix.count, valueCount: 0) { keyStart, _ in
            keyStart.copyMemory(
                from: prefix.baseAddress.unsafelyUnwrapped, byteCount: prefix.count)
        }
        if cleared != nil { clears.append(name.prefix) }
    }

    package mutating func fail(_ error: RoostError) {
        if failure == nil { failure = error }
    }

    /// Throws what was wrong with the last call, which has changed nothing, to whoever made it: the batch may be
    /// committed without that.
    mutating func throwFailure() throws {
        guard let failure else { return }
        self.failure = nil
        throw failure
    }

    // MARK: Going back

    /// What a batch held at one time, to go back to.
    package struct Extent {
        fileprivate let payloadCount: Int
        fileprivate let changeCount: Int
        fileprivate let clearCount: Int
        fileprivate let failure: RoostError?
    }

    package var extent: Extent {
        Extent(
            payloadCount: payloadCount, changeCount: changes.count, clearCount: clears.count,
            failure: failure)
    }

    /// Takes back all that was put, removed and cleared since. The dictionaries that this was in stay noted.
    package mutating func shrink(to extent: Extent) {
        payloadCount = extent.payloadCount
        changes.removeSubrange(extent.changeCount...)
        clears.removeSubrange(extent.clearCount...)
        failure = extent.failure
    }

    // MARK: Laid out already

    /// Becomes a copy of a payload, whose operations are still to be noted.
    mutating func takePayload(_ payload: UnsafeRawBufferPointer) {
        memory = Array(payload)
        payloadCount = payload.count
    }

    /// Notes an operation of the payload.
    mutating func noteOperation(_ operation: Operation, hash: @autoclosure () -> UInt64) {
        if operation.rawKind == Operation.Kind.clear.rawValue {
            clears.append(Array(operation.key))
        } else {
            changes.append(Change(hash: hash(), frameOffset: operation.frameOffset))
            dictionaries.insert(Array(dictionaryPrefix(of: operation.key)))
        }
    }

    /// The same batch with those of its puts and removals alone that `isKept` holds for.
    func filtered(_ isKept: (Change) -> Bool) -> EncodedBatch {
        var copy = self
        copy.memory = []
        copy.payloadCount = 0
        copy.changes = []
        withPayload { payload in
            for change in changes where isKept(change) {
                let start = change.frameOffset - Frame.headerSizeBytes
                let operation = Operation(address: payload.baseAddress.unsafelyUnwrapped + start)
                guard let kind = Operation.Kind(rawValue: operation.rawKind) else { continue }
                let kept = copy.layOut(
                    kind, keyCount: operation.keyCount, valueCount: operation.valueCount
                ) { target, frameOffset in
                    target.copyMemory(
                        from: operation.address + Operation.headerSizeBytes,
                        byteCount: operation.keyCount + operation.valueCount)
                    return Change(hash: change.hash, frameOffset: frameOffset)
                }
                if let kept { copy.changes.append(kept) }
            }
        }
        return copy
    }

    /// Calls `body` with the payload, to be read.
    package func withPayload<Result>(
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try memory.withUnsafeBytes { try body(.init(rebasing: $0[..<payloadCount])) }
    }

    /// Lays out a put or a removal, its key straight from the string.
    @inline(__always)
    private mutating func append(
        _ kind: Operation.Kind, _ key: String, _ name: DictionaryName, valueCount: Int,
        fill: (UnsafeMutableRawPointer) -> Void
    ) {
        let keyCount = name.recordKeyCount(of: key)
        let hashSeed = hashSeed
        let change = layOut(kind, keyCount: keyCount, valueCount: valueCount) {
            keyStart, frameOffset in
            name.copyRecordKey(key, to: keyStart)
            fill(keyStart + keyCount)
            let hash = hashSeed.hash(.init(start: keyStart, count: keyCount))
            return Change(hash: hash, frameOffset: frameOffset)
        }
        guard let change else { return }
        changes.append(change)
        if lastName !== name {
            lastName = name
            dictionaries.insert(name.prefix)
            plainDictionaries.insert(name.prefix)
        }
    }

    /// Appends an operation whose key and value, which follow each other, `fill` writes; `nil` where
    /// the payload would become too large, which is then noted.
    @inline(__always) @discardableResult
    private mutating func layOut<Result>(
        _ kind: Operation.Kind, keyCount: Int, valueCount: Int,
        fill: (_ keyStart: UnsafeMutableRawPointer, _ frameOffset: Int) -> Result
    ) -> Result? {
        let begin = payloadCount
        let sizeBytes = Operation.headerSizeBytes + keyCount + valueCount
        if memory.count - begin < sizeBytes, !grow(sizeBytes) { return nil }
        payloadCount = begin + sizeBytes
        let frameOffset = Frame.headerSizeBytes + begin
        return memory.withUnsafeMutableBytes { bytes in
            let target = bytes.baseAddress.unsafelyUnwrapped + begin
            Operation.writeHeader(
                to: target, kind: kind, keyCount: keyCount, valueCount: valueCount,
                frameOffset: frameOffset)
            return fill(target + Operation.headerSizeBytes, frameOffset)
        }
    }

    @inline(never)
    private mutating func grow(_ sizeBytes: Int) -> Bool {
        let needed = payloadCount + sizeBytes
        guard needed <= Limits.framePayloadSizeBytes else {
            fail(
                RoostError(.valueTooLarge, "a batch may hold up to 1 GiB; split it into several"))
            return false
        }
        let ahead = min(max(memory.count, 256), Self.largestStepBytes)
        let size = min(max(needed, memory.count + ahead), Limits.framePayloadSizeBytes)
        memory.appendZeros(size - memory.count)
        return true
    }
}

extension UnsafeMutableRawPointer {
    @inline(__always)
    func copy(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            copyMemory(from: base, byteCount: bytes.count)
        }
    }
}

/// The error for a key or value beyond the limits, before anything is written.
@inline(__always)
package func checkSizes(key: String, value: EncodedValue?) -> RoostError? {
    // Most values are within the limit even with their overhead.
    if key.utf8.count <= Limits.keySizeBytes, value?.count ?? 0 <= Limits.valueSizeBytes {
        return nil
    }
    return sizeError(key: key, value: value)
}

@inline(never)
private func sizeError(key: String, value: EncodedValue?) -> RoostError? {
    let keyCount = key.utf8.count
    if keyCount > Limits.keySizeBytes {
        return RoostError(
            .keyTooLarge, "the key has \(keyCount) bytes; up to \(Limits.keySizeBytes) are allowed")
    }
    let overhead =
        value.map { $0.kind & ValueHeader.flags == 0 ? 1 : Limits.valueOverheadBytes } ?? 0
    if let value, value.count - overhead > Limits.valueSizeBytes {
        return RoostError(
            .valueTooLarge,
            "the value has \(value.count - 1) bytes; up to \(Limits.valueSizeBytes) are allowed")
    }
    return nil
}
