#if Replica
    import Crypto
    import Roost

    /// Little-endian fields, one after the other.
    struct FieldWriter {
        private(set) var bytes: [UInt8] = []

        mutating func append(_ number: UInt32) { append(number, count: 4) }
        mutating func append(_ number: UInt64) { append(number, count: 8) }

        private mutating func append(_ number: some FixedWidthInteger, count: Int) {
            withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
        }

        mutating func append(_ identifier: Identifier) {
            append(identifier.first)
            append(identifier.second)
        }

        mutating func append(raw: some Sequence<UInt8>) { bytes.append(contentsOf: raw) }

        /// With its length before it.
        mutating func append(counted: some Collection<UInt8>) {
            append(UInt64(counted.count))
            bytes.append(contentsOf: counted)
        }

        mutating func append(_ text: String) { append(counted: text.utf8) }

        /// Ends with the digest of all before.
        mutating func finish() -> [UInt8] {
            append(raw: SHA256.hash(data: bytes))
            return bytes
        }
    }

    /// Reads what a `FieldWriter` wrote, and believes no length that the bytes do not have.
    struct FieldReader {
        private var rest: ArraySlice<UInt8>
        /// For errors.
        private let name: String

        static let digestSizeBytes = 32

        /// What ends with the digest of all before; throws `.corrupt` where it does not.
        init(sealed bytes: [UInt8], name: String) throws {
            self.name = name
            let body = bytes.dropLast(Self.digestSizeBytes)
            guard bytes.count > Self.digestSizeBytes,
                SHA256.hash(data: body).elementsEqual(bytes.suffix(Self.digestSizeBytes))
            else {
                throw RoostError(
                    .corrupt, "the object's checksum does not hold", file: name,
                    offset: UInt64(max(bytes.count - Self.digestSizeBytes, 0)))
            }
            rest = body
        }

        /// What was checked already.
        init(checked bytes: [UInt8], name: String) {
            self.name = name
            rest = bytes[...]
        }

        var isAtEnd: Bool { rest.isEmpty }

        mutating func half() throws -> UInt32 { try number(4) }
        mutating func word() throws -> UInt64 { try number(8) }
        mutating func identifier() throws -> Identifier {
            Identifier(first: try word(), second: try word())
        }

        private mutating func number<Number: FixedWidthInteger>(_ count: Int) throws -> Number {
            var number = Number.zero
            for (index, byte) in try take(count).enumerated() {
                number |= Number(truncatingIfNeeded: byte) << (8 * index)
            }
            return number
        }

        mutating func take(_ count: Int) throws -> ArraySlice<UInt8> {
            guard count >= 0, count <= rest.count else { throw senseless() }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }

        mutating func counted() throws -> ArraySlice<UInt8> {
            let count = try word()
            guard count <= UInt64(rest.count) else { throw senseless() }
            return try take(Int(count))
        }

        /// A count of things that take `sizeBytes` each at least.
        mutating func count(ofAtLeast sizeBytes: Int) throws -> Int {
            let count = try word()
            guard count <= UInt64(rest.count / sizeBytes) else { throw senseless() }
            return Int(count)
        }

        mutating func text() throws -> String {
            String(decoding: try counted(), as: UTF8.self)
        }

        func senseless() -> RoostError {
            RoostError(.corrupt, "the object's fields make no sense", file: name)
        }
    }

    /// Sixteen random bytes.
    struct Identifier: Hashable, Sendable {
        var first: UInt64
        var second: UInt64

        static let none = Identifier(first: 0, second: 0)

        static func random() -> Identifier {
            Identifier(first: .random(in: 1 ... .max), second: .random(in: 1 ... .max))
        }
    }

    extension Identifier: CustomStringConvertible {
        var description: String {
            hexadecimal(
                [first, second].flatMap { word in withUnsafeBytes(of: word.bigEndian, Array.init) })
        }
    }
#endif
