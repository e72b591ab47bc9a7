import RoostFormat
import RoostIO

/// The operations that commit together, laid out as the payload of their frame.
///
/// - `changes` holds one entry per put and remove, in the order of the calls; of several on one
///   key the last counts.
package struct EncodedBatch: Sendable {
    package struct Change: Sendable {
        let hash: UInt64
        /// From the begin of the frame.
        let frameOffset: Int
    }

    package private(set) var payload: [UInt8] = []
    package private(set) var changes: [Change] = []
    /// The dictionaries that the puts and removes are in, by prefix.
    package private(set) var dictionaries: Set<[UInt8]> = []
    /// The dictionaries that are emptied, before the puts that follow in the batch.
    package private(set) var clears: [[UInt8]] = []
    /// The first thing that was wrong with a call; reported when the batch is committed.
    package private(set) var failure: RoostError?
    private let hashSeed: HashSeed
    private var lastDictionary: [UInt8] = []
    private var lastOffset = 0

    package init(hashSeed: HashSeed) { self.hashSeed = hashSeed }

    package var isEmpty: Bool { changes.isEmpty && clears.isEmpty }
    package var operationCount: Int { changes.count + clears.count }

    package mutating func put(_ value: EncodedValue, forKey key: String, in name: DictionaryName) {
        if let error = checkSizes(key: key, value: value) { return fail(error) }
        name.withRecordKey(key) { recordKey in
            append(value.operationKind, key: recordKey, valueCount: value.count) {
                value.write(to: $0)
            }
            noteChange(recordKey, name)
        }
    }

    package mutating func remove(_ key: String, in name: DictionaryName) {
        if let error = checkSizes(key: key, value: nil) { return fail(error) }
        name.withRecordKey(key) { recordKey in
            append(.remove, key: recordKey, valueCount: 0) { _ in }
            noteChange(recordKey, name)
        }
    }

    /// Removes what the dictionary held before the batch. What the batch itself puts stays, so a
    /// clear counts wherever it stands.
    package mutating func clear(_ name: DictionaryName) {
        name.prefix.withUnsafeBytes { append(.clear, key: $0, valueCount: 0) { _ in } }
        clears.append(name.prefix)
    }

    package mutating func fail(_ error: RoostError) {
        if failure == nil { failure = error }
    }

    private mutating func noteChange(_ recordKey: UnsafeRawBufferPointer, _ name: DictionaryName) {
        changes.append(Change(hash: hashSeed.hash(recordKey), frameOffset: lastOffset))
        if lastDictionary != name.prefix {
            lastDictionary = name.prefix
            dictionaries.insert(name.prefix)
        }
    }

    private mutating func append(
        _ kind: Operation.Kind, key: UnsafeRawBufferPointer, valueCount: Int,
        fill: (UnsafeMutableRawPointer) -> Void
    ) {
        lastOffset = Frame.headerSizeBytes + payload.count
        let size = Operation.headerSizeBytes + key.count + valueCount
        if payload.count + size > Limits.framePayloadSizeBytes {
            return fail(
                RoostError(.valueTooLarge, "a batch may hold up to 1 GiB; split it into several"))
        }
        let begin = payload.count
        payload.append(contentsOf: repeatElement(0, count: size))
        payload.withUnsafeMutableBytes { bytes in
            let target = bytes.baseAddress! + begin
            Operation.writeHeader(
                to: target, kind: kind, keyCount: key.count, valueCount: valueCount,
                frameOffset: Frame.headerSizeBytes + begin)
            (target + Operation.headerSizeBytes).copyMemory(
                from: key.baseAddress!, byteCount: key.count)
            fill(target + Operation.headerSizeBytes + key.count)
        }
    }
}

/// The error for a key or value beyond the limits, before anything is written.
package func checkSizes(key: String, value: EncodedValue?) -> RoostError? {
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
