import RoostFormat
import RoostIO

/// Looks over a binary property list before Foundation decodes it, whose decoder follows
/// containers however deep they go, and into themselves.
///
/// - Every object is looked at once at most for each reference to it, and all references are in
///   the bytes: time and memory stay in proportion to them.
/// - Containers are referred to once, as all encoders write them. Texts, numbers and data may be referred to
///   often, and each reference becomes a value of its own: together these are no larger than the largest
///   value, or than the list itself.
/// - No dictionary has two keys that Swift holds to be equal, of which one would be lost.
package struct PropertyListBounds {
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
    ///   deeper than ``depthLimit`` levels, or refer to a container twice, or stand for far more than they are, or
    ///   where keys of a dictionary are equal.
    package static func check(_ bytes: UnsafeRawBufferPointer) throws {
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
        var leafSizeBytes = 0
        let leafSizeLimitBytes = max(Limits.valueSizeBytes, bytes.count)
        while let (object, depth) = waiting.popLast() {
            let entry = tableOffset + object * offsetSizeBytes
            let offset = try Self.number(in: bytes, at: entry, sizeBytes: offsetSizeBytes)
            guard offset < tableOffset else { throw Self.damaged(at: entry) }
            guard let references = try references(at: offset) else {
                // No more than the bytes there are, so that the sum of two is an `Int`.
                leafSizeBytes += try sizeOfLeaf(at: offset)
                guard leafSizeBytes <= leafSizeLimitBytes else {
                    throw RoostError(
                        .decodingFailed,
                        "the values, each as often as it is referred to, are more than \(leafSizeLimitBytes) bytes"
                    )
                }
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
            if bytes[offset] >> 4 == 0xd { try checkKeys(references) }
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

    /// The first half of a dictionary's references are its keys.
    private func checkKeys(_ references: Range<Int>) throws {
        let keys = references.lowerBound..<(references.lowerBound + references.count / 2)
        var seen: Set<String> = []
        for reference in stride(from: keys.lowerBound, to: keys.upperBound, by: referenceSizeBytes)
        {
            let object = try Self.number(in: bytes, at: reference, sizeBytes: referenceSizeBytes)
            guard object < objectCount else { throw Self.damaged(at: reference) }
            let entry = tableOffset + object * offsetSizeBytes
            let offset = try Self.number(in: bytes, at: entry, sizeBytes: offsetSizeBytes)
            guard offset < tableOffset else { throw Self.damaged(at: entry) }
            guard let key = try text(at: offset) else { continue }
            // Canonically: "K" is equal to the sign of the kelvin, U+212A.
            if let other = seen.update(with: key) { throw Self.equalKeys(other, key) }
        }
    }

    /// The text of an object; `nil` where it is none.
    private func text(at offset: Int) throws -> String? {
        let form = bytes[offset] >> 4
        guard form == 0x5 || form == 0x6 else { return nil }
        let size = try sizeOfLeaf(at: offset)
        let (start, _) = try elements(at: offset)
        if form == 0x5 { return String(decoding: bytes[start..<(start + size)], as: UTF8.self) }
        let units = stride(from: start, to: start + size, by: 2).map {
            UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
        }
        return String(decoding: units, as: UTF16.self)
    }

    /// - Returns: an error that shows what tells the keys apart.
    static func equalKeys(_ first: String, _ second: String) -> RoostError {
        let codes = [first, second].map { key in
            key.unicodeScalars.map { "U+" + String($0.value, radix: 16, uppercase: true) }
                .joined(separator: " ")
        }
        return RoostError(
            .decodingFailed,
            "the keys \"\(first)\" (\(codes[0])) and \"\(second)\" (\(codes[1])) of a dictionary are equal, "
                + "so that one of their values would be lost")
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

    /// How many bytes the content of what is no container has; it ends before the table. What they mean is
    /// Foundation's business.
    private func sizeOfLeaf(at offset: Int) throws -> Int {
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
        default: return 1
        }
        guard start <= tableOffset, count <= (tableOffset - start) / unit else {
            throw Self.damaged(at: offset)
        }
        return count * unit
    }
}
