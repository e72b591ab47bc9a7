import RoostEngine
import RoostFormat

// Scans that make nothing of what they pass.

extension ReadView {
    /// Calls `body` with the key and the value of each entry of `dictionary` whose key begins with
    /// `prefix`, in the order of the keys' UTF-8 bytes or against it, for at most `limit` entries.
    ///
    /// Both are lent as bytes, where they stand or were decompressed to: neither a string nor an array
    /// is made, so that this takes about half the time of an iteration over `entries`. The key's are
    /// its UTF-8. Values are those of `[UInt8]`, `Data` or `String`, as they were set: no migration is
    /// applied.
    ///
    /// Does not suspend, and holds no lock while it calls. What `body` throws ends the scan.
    ///
    /// - Throws: `.typeMismatch` at a value of another type, `.decodingFailed` at one of a kind that this version
    ///   does not know, `.corrupt`, `.io`, `.closed`; what `body` throws.
    public func forEachBytes(
        of dictionary: WorkspaceDictionary, prefix: String = "", limit: Int? = nil,
        order: ScanOrder = .ascending, _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Void
    ) throws {
        try forEachBytes(try dictionary.range(prefix: prefix), dictionary, limit, order, body)
    }

    /// Calls `body` with the key and the value of each entry of `dictionary` whose key is in `range`;
    /// as the other `forEachBytes(of:prefix:limit:order:_:)`.
    public func forEachBytes(
        of dictionary: WorkspaceDictionary, in range: some KeyRange, limit: Int? = nil,
        order: ScanOrder = .ascending, _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Void
    ) throws {
        try forEachBytes(try dictionary.range(range), dictionary, limit, order, body)
    }

    private func forEachBytes(
        _ range: RecordRange, _ dictionary: WorkspaceDictionary, _ limit: Int?, _ order: ScanOrder,
        _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Void
    ) throws {
        check(dictionary)
        let limit = Swift.max(0, limit ?? .max)
        let scan = try engineView.scan(range, order, limit: limit)
        guard let notes else {
            return try scan.forEachRecord(limit: limit) { key, stored in
                try body(key.bytes, try bytes(in: stored, key, dictionary).bytes)
            }
        }
        var place = NotedPlace(limit: limit, behind: range.prefix)
        defer { place.note(range, order, notes) }
        try scan.forEachRecord(limit: limit) { key, stored in
            place.pass(key)
            notes.note(deadlineOf: stored)
            try body(key.bytes, try bytes(in: stored, key, dictionary).bytes)
        }
    }

    @inline(__always)
    private func bytes(
        in stored: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer,
        _ dictionary: WorkspaceDictionary
    ) throws -> UnsafeRawBufferPointer {
        if stored.first == ValueKind.bytes.rawValue { return .init(rebasing: stored[1...]) }
        return try otherBytes(in: stored, key, dictionary)
    }

    @inline(never)
    private func otherBytes(
        in stored: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer,
        _ dictionary: WorkspaceDictionary
    ) throws -> UnsafeRawBufferPointer {
        let header = ValueHeader(stored)
        let kind = header.flatMap { ValueKind(rawValue: $0.kind) }
        switch (header, kind) {
        case (let header?, .bytes), (let header?, .data), (let header?, .string):
            return .init(rebasing: stored[header.sizeBytes...])
        default:
            let name = "\"\(String(decoding: key, as: UTF8.self))\" in \"\(dictionary.name)\""
            guard let kind else {
                throw RoostError(
                    .decodingFailed, "\(name) is of a kind that this version does not know")
            }
            throw RoostError(
                .typeMismatch,
                "\(name) is stored as \(kind.typeName): bytes, data and text alone can be lent")
        }
    }
}
