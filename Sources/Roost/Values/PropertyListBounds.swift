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

    private static func damaged(at offset: Int) -> RoostError {
        RoostError(
            .decodingFailed, "the bytes are not a whole binary property list: see offset \(offset)")
    }

    private init(_ bytes: UnsafeRawBufferPointer) throws {
        guard bytes.count >= 8 + Self.trailerSizeBytes, bytes.starts(with: Array("bplist".utf8))
        else { throw Self.damaged(at: 0) }
        self.bytes = bytes
        let trailer = bytes.count - Self.trailerSizeBytes
        offsetSizeBytes = Int(bytes[trailer + 6])
        referenceSizeBytes = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSizeBytes), (1...8).contains(referenceSizeBytes) else {
            throw Self.damaged(at: trailer + 6)
        }
        objectCount = try Self.number(in: bytes, at: trailer + 8, sizeBytes: 8)
        topObject = try Self.number(in: bytes, at: trailer + 16, sizeBytes: 8)
        tableOffset = try Self.number(in: bytes, at: trailer + 24, sizeBytes: 8)
        guard tableOffset <= trailer, objectCount <= (trailer - tableOffset) / offsetSizeBytes,
            topObject < objectCount
        else { throw Self.damaged(at: trailer + 8) }
    }

    /// A number in big-endian order; what is beyond `Int` is beyond the bytes too.
    private static func number(
        in bytes: UnsafeRawBufferPointer, at offset: Int, sizeBytes: Int
    ) throws -> Int {
        guard offset >= 0, offset <= bytes.count - sizeBytes else { throw damaged(at: offset) }
        let value = bytes[offset..<(offset + sizeBytes)].reduce(0 as UInt64) {
            $0 << 8 | UInt64($1)
        }
        guard let result = Int(exactly: value) else { throw damaged(at: offset) }
        return result
    }

    private func checkObjects() throws {
        var seen = [Bool](repeating: false, count: objectCount)
        var waiting = [(object: topObject, depth: 1)]
        while let (object, depth) = waiting.popLast() {
            let entry = tableOffset + object * offsetSizeBytes
            let offset = try Self.number(in: bytes, at: entry, sizeBytes: offsetSizeBytes)
            guard offset < tableOffset else { throw Self.damaged(at: entry) }
            guard let references = try references(at: offset) else {
                try checkSize(at: offset)
                continue
            }
            guard depth <= Self.depthLimit else {
                throw RoostError(
                    .decodingFailed,
                    "values are nested deeper than \(Self.depthLimit) levels: see offset \(offset)")
            }
            guard !seen[object] else {
                throw RoostError(
                    .decodingFailed, "a container stands in two places: see offset \(offset)")
            }
            seen[object] = true
            for reference in stride(
                from: references.lowerBound, to: references.upperBound, by: referenceSizeBytes)
            {
                let child = try Self.number(
                    in: bytes, at: reference, sizeBytes: referenceSizeBytes)
                guard child < objectCount else { throw Self.damaged(at: reference) }
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
        let (start, count) = try elements(at: offset)
        guard start <= tableOffset,
            count <= (tableOffset - start) / (perElement * referenceSizeBytes)
        else { throw Self.damaged(at: offset) }
        return start..<(start + count * perElement * referenceSizeBytes)
    }

    /// How many elements an object has by its marker, and where the first is.
    private func elements(at offset: Int) throws -> (start: Int, count: Int) {
        let start = offset + 1
        let count = Int(bytes[offset] & 0x0f)
        guard count == 0x0f else { return (start, count) }
        // The count is an integer object of its own.
        guard start < tableOffset, bytes[start] & 0xf8 == 0x10 else {
            throw Self.damaged(at: offset)
        }
        let sizeBytes = 1 << Int(bytes[start] & 0x07)
        guard sizeBytes <= 8 else { throw Self.damaged(at: start) }
        return (
            start + 1 + sizeBytes,
            try Self.number(in: bytes, at: start + 1, sizeBytes: sizeBytes)
        )
    }

    /// What is no container ends before the table. What its bytes mean is Foundation's business.
    private func checkSize(at offset: Int) throws {
        let marker = bytes[offset]
        let (start, count, unit): (Int, Int, Int)
        switch marker >> 4 {
        case 0x1, 0x2: (start, count, unit) = (offset + 1, 1 << Int(marker & 0x0f), 1)
        case 0x3: (start, count, unit) = (offset + 1, 8, 1)
        case 0x4, 0x5:
            (start, count) = try elements(at: offset)
            unit = 1
        case 0x6:
            (start, count) = try elements(at: offset)
            unit = 2
        case 0x8: (start, count, unit) = (offset + 1, Int(marker & 0x0f) + 1, 1)
        default: return
        }
        guard start <= tableOffset, count <= (tableOffset - start) / unit else {
            throw Self.damaged(at: offset)
        }
    }
}
