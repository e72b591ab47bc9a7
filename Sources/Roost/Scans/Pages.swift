import RoostEngine
import RoostFormat

// Ordered scans that do not suspend: what a view of a user interface, a synchronous function or a
// short look at a few entries wants. They run on the caller's thread, so a long one holds it.

extension WorkspaceDictionary {
    /// The entries whose keys begin with `prefix`, in the order of their UTF-8 bytes or against it, at
    /// most `limit`, as they are at this moment. The next page begins `after` the last key of this one.
    ///
    /// Does not suspend. Costs a read view, a search in the log and in each tier of snapshots, and then
    /// what the entries cost. All of them are in memory.
    ///
    /// - Throws: `.typeMismatch`, `.decodingFailed`, `.unsupportedVersion`, `.corrupt`, `.io`, `.closed`.
    public func page<Value: BinaryCodable & Sendable>(
        prefix: String = "", after key: String? = nil, as type: Value.Type = Value.self,
        limit: Int, order: ScanOrder = .ascending
    ) throws -> [(key: String, value: Value)] {
        try workspace.read {
            try $0.page(of: self, prefix: prefix, after: key, as: type, limit: limit, order: order)
        }
    }

    /// The entries whose keys begin with `prefix`; as the other `page(prefix:after:as:limit:order:)`.
    @_disfavoredOverload
    public func page<Value: Codable & Sendable>(
        prefix: String = "", after key: String? = nil, as type: Value.Type = Value.self,
        limit: Int, order: ScanOrder = .ascending
    ) throws -> [(key: String, value: Value)] {
        try workspace.read {
            try $0.page(of: self, prefix: prefix, after: key, as: type, limit: limit, order: order)
        }
    }
}

extension ReadView {
    /// The entries that `dictionary` had; as `page(prefix:after:as:limit:order:)`.
    public func page<Value: BinaryCodable & Sendable>(
        of dictionary: WorkspaceDictionary, prefix: String = "", after key: String? = nil,
        as type: Value.Type = Value.self, limit: Int, order: ScanOrder = .ascending
    ) throws -> [(key: String, value: Value)] {
        try page(of: dictionary, prefix, after: key, limit, order, .binary())
    }

    /// The entries that `dictionary` had; as the other `page(of:prefix:after:as:limit:order:)`.
    @_disfavoredOverload
    public func page<Value: Codable & Sendable>(
        of dictionary: WorkspaceDictionary, prefix: String = "", after key: String? = nil,
        as type: Value.Type = Value.self, limit: Int, order: ScanOrder = .ascending
    ) throws -> [(key: String, value: Value)] {
        try page(of: dictionary, prefix, after: key, limit, order, .codable())
    }

    /// Calls `body` with each entry of `dictionary` whose key begins with `prefix`, in the order of the
    /// keys' UTF-8 bytes or against it, until there is none or `body` throws. One is in memory at a
    /// time. Does not suspend.
    ///
    /// - Throws: as `page`; what `body` throws.
    public func forEachEntry<Value: BinaryCodable & Sendable>(
        of dictionary: WorkspaceDictionary, prefix: String = "", as type: Value.Type = Value.self,
        order: ScanOrder = .ascending, _ body: (_ key: String, _ value: Value) throws -> Void
    ) throws {
        try forEach(of: dictionary, prefix, after: nil, .max, order, .binary(), body)
    }

    /// Calls `body` with each entry; as the other `forEachEntry(of:prefix:as:order:_:)`.
    @_disfavoredOverload
    public func forEachEntry<Value: Codable & Sendable>(
        of dictionary: WorkspaceDictionary, prefix: String = "", as type: Value.Type = Value.self,
        order: ScanOrder = .ascending, _ body: (_ key: String, _ value: Value) throws -> Void
    ) throws {
        try forEach(of: dictionary, prefix, after: nil, .max, order, .codable(), body)
    }

    private func page<Value>(
        of dictionary: WorkspaceDictionary, _ prefix: String, after key: String?, _ limit: Int,
        _ order: ScanOrder, _ codec: ValueCodec<Value>
    ) throws -> [(key: String, value: Value)] {
        var entries: [(key: String, value: Value)] = []
        entries.reserveCapacity(Swift.min(Swift.max(0, limit), 64))
        try forEach(of: dictionary, prefix, after: key, limit, order, codec) {
            entries.append(($0, $1))
        }
        return entries
    }

    private func forEach<Value>(
        of dictionary: WorkspaceDictionary, _ prefix: String, after key: String?, _ limit: Int,
        _ order: ScanOrder, _ codec: ValueCodec<Value>, _ body: (String, Value) throws -> Void
    ) throws {
        check(dictionary)
        guard limit > 0 else { return }
        let range = try dictionary.range(prefix: prefix).after(key, order)
        let prefixCount = range.prefix.count
        let scan = try engineView.scan(range, order, limit: limit)
        var place = NotedPlace(limit: limit)
        defer { if let notes { place.note(range, order, notes) } }
        var remaining = limit
        while let recordKey = scan.recordKey {
            if let notes {
                place.pass(recordKey)
                notes.note(scan.deadline)
            }
            let key = String(
                decoding: UnsafeRawBufferPointer(rebasing: recordKey[prefixCount...]), as: UTF8.self
            )
            let value = try scan.withValue {
                try dictionary.decode(stored: $0, key: key, codec)
            }
            try body(key, value)
            remaining -= 1
            // What comes after the last one is not looked at.
            if remaining == 0 { return }
            try scan.moveToNext()
        }
    }
}

extension RecordRange {
    /// What is left of the range, in the scan's direction, after `key`.
    fileprivate func after(_ key: String?, _ order: ScanOrder) -> RecordRange {
        guard let key else { return self }
        let bound = prefix + Array(key.utf8)
        switch order {
        case .ascending:
            // The first key that is greater has one more byte.
            let next = bound + [0]
            return lower.lexicographicallyPrecedes(next)
                ? RecordRange(prefix: prefix, lower: next, upper: upper) : self
        case .descending:
            let isWithin = upper.map { bound.lexicographicallyPrecedes($0) } ?? true
            return isWithin ? RecordRange(prefix: prefix, lower: lower, upper: bound) : self
        }
    }
}
