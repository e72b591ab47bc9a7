import RoostEngine
import RoostFormat

/// One key and its value as it is stored, for tools.
package struct StoredRecord: Sendable, Equatable {
    package var dictionary: String
    package var key: String
    package var value: StoredValue

    package init(dictionary: String, key: String, value: StoredValue) {
        self.dictionary = dictionary
        self.key = key
        self.value = value
    }

    /// Whether `other` stands before this: by the bytes of the dictionaries' names and of the keys.
    package func isBehind(_ other: StoredRecord) -> Bool {
        if dictionary.utf8.elementsEqual(other.dictionary.utf8) {
            return other.key.utf8.lexicographicallyPrecedes(key.utf8)
        }
        return other.dictionary.utf8.lexicographicallyPrecedes(dictionary.utf8)
    }
}

/// Which records of a workspace a walk gives.
package struct StoredRange: Sendable {
    /// All dictionaries where it is `nil`.
    package var dictionary: String?
    package var prefix = ""
    /// The first key, and the first after the last.
    package var from: String?
    package var below: String?
    package var order = ScanOrder.ascending
    package var limit = Int.max

    package init(dictionary: String? = nil) { self.dictionary = dictionary }
}

/// Walks the records of a workspace at one moment: the dictionaries, and the keys in each, in the order
/// of their bytes; or both against it. Holds one value at a time in memory, beside the sorted keys of
/// the log.
package final class StoredRecords {
    private let view: EngineView
    private let range: StoredRange
    private var names: [DictionaryName]
    private var current: (name: DictionaryName, scan: ViewScan)?
    private var remaining: Int

    package init(_ workspace: Workspace, _ range: StoredRange = StoredRange()) throws {
        self.range = range
        remaining = range.limit
        view = try workspace.engine.view()
        if let name = range.dictionary {
            names = [try workspace.dictionary(name).checkedName()]
        } else {
            // The last is taken first.
            names = try view.dictionaries()
            if range.order == .ascending { names.reverse() }
        }
    }

    deinit { view.close() }

    /// The next record; `nil` after the last.
    ///
    /// - Throws: `.corrupt` with file and offset, `.closed`.
    package func next() throws -> StoredRecord? {
        try step { name, scan in
            try scan.storedEntry(of: name).map {
                StoredRecord(dictionary: name.name, key: $0.key, value: $0.value)
            }
        }
    }

    /// The next record with its version; of a longer value the first `limit` bytes alone.
    package func nextEntry(valueSizeLimitBytes limit: Int) throws -> StoredEntry? {
        try step { name, scan in
            guard let recordKey = scan.recordKey else { return nil }
            let key = String(decoding: recordKey[name.prefix.count...], as: UTF8.self)
            let version = scan.sequence
            return try scan.withValue { bytes in
                let head = UnsafeRawBufferPointer(rebasing: bytes.prefix(max(1, limit)))
                guard let value = StoredValue(stored: head) else {
                    throw RoostError(.decodingFailed, "\"\(key)\" in \"\(name.name)\" has no kind")
                }
                return StoredEntry(
                    key: key, value: value, sizeBytes: bytes.count, version: version)
            }
        }
    }

    /// The key of the next record; `nil` after the last. Reads no value.
    package func nextKey() throws -> String? {
        try step { name, scan in
            scan.recordKey.map { String(decoding: $0[name.prefix.count...], as: UTF8.self) }
        }
    }

    /// Whether there was a further record, which is passed over.
    package func passNext() throws -> Bool {
        let isThere: Bool? = try step { _, scan in scan.recordKey == nil ? nil : true }
        return isThere ?? false
    }

    /// What `make` makes of the next record, where it stands; `nil` after the last.
    private func step<Made>(
        _ make: (DictionaryName, ViewScan) throws -> Made?
    ) throws -> Made? {
        while remaining > 0 {
            if current == nil {
                guard let name = names.popLast() else { return nil }
                guard let scan = try begin(name) else { continue }
                current = (name, scan)
            }
            guard let (name, scan) = current else { return nil }
            if let made = try make(name, scan) {
                remaining -= 1
                // What comes after the last one is not looked at.
                if remaining > 0 { try scan.moveToNext() }
                return made
            }
            current = nil
        }
        return nil
    }

    /// `nil` where no key can be in the range.
    private func begin(_ name: DictionaryName) throws -> ViewScan? {
        let prefixed = RecordRange(name, keyPrefix: Array(range.prefix.utf8))
        var lower = prefixed.lower
        var upper = prefixed.upper
        if let from = range.from { lower = Self.later(lower, name.prefix + Array(from.utf8)) }
        if let below = range.below {
            let end = name.prefix + Array(below.utf8)
            upper = upper.map { Self.later($0, end) == end ? $0 : end } ?? end
        }
        if let upper, !lower.lexicographicallyPrecedes(upper) { return nil }
        let bounded = RecordRange(prefix: name.prefix, lower: lower, upper: upper)
        return try view.scan(bounded, range.order, limit: remaining)
    }

    private static func later(_ one: [UInt8], _ other: [UInt8]) -> [UInt8] {
        one.lexicographicallyPrecedes(other) ? other : one
    }
}

extension StoredValue {
    /// The kind without the flags that say that a deadline or a version follows, and the payload
    /// after these; `nil` where the bytes are no value.
    package var plain: (value: StoredValue, deadlineMilliseconds: UInt64?, version: Int)? {
        ([kind] + payload).withUnsafeBytes { bytes in
            guard let header = ValueHeader(bytes) else { return nil }
            return (
                StoredValue(kind: header.kind, payload: Array(bytes[header.sizeBytes...])),
                header.deadline == .never ? nil : header.deadline.milliseconds, Int(header.version)
            )
        }
    }

    /// `plain` with the flags of a deadline and a version, and these in front of its payload.
    package init(_ plain: StoredValue, deadlineMilliseconds: UInt64?, version: UInt32 = 1) {
        let header = ValueHeader(
            kind: plain.kind,
            deadline: deadlineMilliseconds.map { Deadline(milliseconds: $0) } ?? .never,
            version: version)
        let bytes = header.bytes
        self.init(kind: bytes[0], payload: Array(bytes.dropFirst()) + plain.payload)
    }
}
