import RoostIO

/// Looks over a binary property list before Foundation decodes it, whose decoder follows
/// containers however deep they go, and into themselves.
///
/// - Every object is looked at once at most for each reference to it, and all references are in
///   the bytes: time and memory stay in proportion to them.
/// - Containers are referred to once, as all encoders write them, so that a list cannot stand for
///   far more than its own size.
struct PropertyListBounds {
    /// Containers inside one another: as many as Foundation takes in JSON.
    static let depthLimit = 512
    private static let trailerSizeBytes = 32

    private let bytes: UnsafeRawBufferPointer
    private let offsetSizeBytes: Int
    private let referenceSizeBytes: Int
    private let objectCount: Int
    private let topObject: Int
    private let tableOffset: Int

    /// - Throws: `.decodingFailed` where `bytes` are not a binary property list, or are nested
    ///   deeper than ``depthLimit`` levels, or refer to a container twice.
    static func check(_ bytes: UnsafeRawBufferPointer) throws {
        try Self(bytes).checkObjects()
    }

    private static func damaged() -> RoostError {
        RoostError(.decodingFailed, "the bytes are not a whole binary property list")
    }

    private init(_ bytes: UnsafeRawBufferPointer) throws {
        guard bytes.count >= 8 + Self.trailerSizeBytes, bytes.starts(with: Array("bplist".utf8))
        else { throw Self.damaged() }
        self.bytes = bytes
        let trailer = bytes.count - Self.trailerSizeBytes
        offsetSizeBytes = Int(bytes[trailer + 6])
        referenceSizeBytes = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSizeBytes), (1...8).contains(referenceSizeBytes) else {
            throw Self.damaged()
        }
        objectCount = try Self.number(in: bytes, at: trailer + 8, sizeBytes: 8)
        topObject = try Self.number(in: bytes, at: trailer + 16, sizeBytes: 8)
        tableOffset = try Self.number(in: bytes, at: trailer + 24, sizeBytes: 8)
        guard tableOffset <= trailer, objectCount <= (trailer - tableOffset) / offsetSizeBytes,
            topObject < objectCount
        else { throw Self.damaged() }
    }

    /// A number in big-endian order; what is beyond `Int` is beyond the bytes too.
    private static func number(
        in bytes: UnsafeRawBufferPointer, at offset: Int, sizeBytes: Int
    ) throws -> Int {
        guard offset >= 0, offset <= bytes.count - sizeBytes else { throw damaged() }
        let value = bytes[offset..<(offset + sizeBytes)].reduce(0 as UInt64) {
            $0 << 8 | UInt64($1)
        }
        guard let result = Int(exactly: value) else { throw damaged() }
        return result
    }

    private func checkObjects() throws {
        var seen = [Bool](repeating: false, count: objectCount)
        var waiting = [(object: topObject, depth: 1)]
        while let (object, depth) = waiting.popLast() {
            let offset = try Self.number(
                in: bytes, at: tableOffset + object * offsetSizeBytes, sizeBytes: offsetSizeBytes)
            guard offset < tableOffset else { throw Self.damaged() }
            guard let references = try references(at: offset) else { continue }
            guard depth <= Self.depthLimit else {
                throw RoostError(
                    .decodingFailed, "values are nested deeper than \(Self.depthLimit) levels")
            }
            guard !seen[object] else {
                throw RoostError(.decodingFailed, "a container stands in two places")
            }
            seen[object] = true
            for reference in stride(
                from: references.lowerBound, to: references.upperBound, by: referenceSizeBytes)
            {
                let child = try Self.number(
                    in: bytes, at: reference, sizeBytes: referenceSizeBytes)
                guard child < objectCount else { throw Self.damaged() }
                waiting.append((child, depth + 1))
            }
        }
    }

    /// Where the references of a container are; `nil` where the object is none.
    private func references(at offset: Int) throws -> Range<Int>? {
        let marker = bytes[offset]
        guard marker >= 0xa0 else { return nil }
        // A dictionary has a key for each value.
        let perElement = marker >> 4 == 0xd ? 2 : 1
        var start = offset + 1
        var count = Int(marker & 0x0f)
        if count == 0x0f {
            // The count is an integer object of its own.
            guard start < tableOffset, bytes[start] & 0xf8 == 0x10 else { throw Self.damaged() }
            let sizeBytes = 1 << Int(bytes[start] & 0x07)
            guard sizeBytes <= 8 else { throw Self.damaged() }
            count = try Self.number(in: bytes, at: start + 1, sizeBytes: sizeBytes)
            start += 1 + sizeBytes
        }
        guard start <= tableOffset,
            count <= (tableOffset - start) / (perElement * referenceSizeBytes)
        else { throw Self.damaged() }
        return start..<(start + count * perElement * referenceSizeBytes)
    }
}
