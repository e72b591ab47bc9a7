extension Set: BinaryCodable where Element: BinaryCodable {
    @inlinable public static var binaryShape: BinaryShape { .bytes }

    /// As an array, in ascending order of the elements' encoded bytes.
    @inlinable
    public func encode(into writer: inout BinaryWriter) {
        writer.frame { writer in
            var offsets = writer.offsetsOfElements(count: count)
            for element in self {
                offsets.append(writer.count)
                writer.write(element)
            }
            writer.sortElements(at: offsets)
        }
    }

    @inlinable
    public init(from reader: inout BinaryReader) throws {
        self.init()
        try reader.readElements { elements in
            let isNew = insert(try elements.read(Element.self)).inserted
            guard isNew else { throw elements.invalidValue("a set holds an element twice") }
        }
    }
}

extension Dictionary: BinaryCodable where Key: BinaryCodable, Value: BinaryCodable {
    @inlinable public static var binaryShape: BinaryShape { .bytes }

    /// A length in bytes, and each key with its value, in ascending order of their bytes.
    @inlinable
    public func encode(into writer: inout BinaryWriter) {
        writer.frame { writer in
            var offsets = writer.offsetsOfElements(count: count)
            for (key, value) in self {
                offsets.append(writer.count)
                writer.write(key)
                writer.write(value)
            }
            writer.sortElements(at: offsets)
        }
    }

    @inlinable
    public init(from reader: inout BinaryReader) throws {
        self.init()
        try reader.readElements { elements in
            let key = try elements.read(Key.self)
            let value = try elements.read(Value.self)
            guard updateValue(value, forKey: key) == nil else {
                throw elements.invalidValue("a dictionary holds a key twice")
            }
        }
    }
}

extension BinaryWriter {
    @usableFromInline
    func offsetsOfElements(count: Int) -> [Int] {
        var offsets: [Int] = []
        offsets.reserveCapacity(count)
        return offsets
    }

    /// Puts the elements that begin at `offsets`, the last of which ends here, in ascending
    /// order of their bytes: hashing orders them differently in each run of a program.
    @usableFromInline
    mutating func sortElements(at offsets: [Int]) {
        guard offsets.count > 1, !isTooDeep else { return }
        let start = offsets[0]
        let unsorted = [UInt8](UnsafeRawBufferPointer(start: base + start, count: count - start))
        cursor = base + start
        unsorted.withUnsafeBytes { bytes in
            var elements = offsets.indices.map { index in
                let end = index + 1 < offsets.count ? offsets[index + 1] - start : bytes.count
                return bytes[(offsets[index] - start)..<end]
            }
            elements.sort { $0.lexicographicallyPrecedes($1) }
            for element in elements { writeRaw(UnsafeRawBufferPointer(rebasing: element)) }
        }
    }
}
