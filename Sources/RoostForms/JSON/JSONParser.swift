/// Why a text is not JSON.
package struct JSONSyntaxError: Error, Equatable {
    /// Bytes from the begin of the text.
    package var offset: Int
    package var reason: String
}

/// Reads one JSON text (RFC 8259), strictly. Foundation's parsers give numbers as `Double` or
/// drop the difference between 1 and 1.0; this one keeps what was written.
///
/// - Every step moves `offset` on or throws; nesting is bounded, so hostile text ends too.
package struct JSONParser {
    package let bytes: UnsafeRawBufferPointer
    package var offset = 0
    private var depth = 0

    /// As deep as Foundation's decoder goes.
    package static let maximumDepth = 512

    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// The value that all of `bytes` is.
    package static func parse(_ bytes: UnsafeRawBufferPointer) throws(JSONSyntaxError) -> JSONValue
    {
        var parser = JSONParser(bytes)
        let value = try parser.value()
        parser.skipSpace()
        guard parser.offset == bytes.count else { throw parser.wrong("text behind the value") }
        return value
    }

    package static func parse(_ text: String) throws(JSONSyntaxError) -> JSONValue {
        var text = text
        // Typed throws do not pass through the standard library's closures; results do.
        let result: Result<JSONValue, JSONSyntaxError> = text.withUTF8 { utf8 in
            do throws(JSONSyntaxError) {
                return .success(try parse(UnsafeRawBufferPointer(utf8)))
            } catch { return .failure(error) }
        }
        return try result.get()
    }

    package func wrong(_ reason: String) -> JSONSyntaxError {
        JSONSyntaxError(offset: offset, reason: reason)
    }

    /// The byte at `offset`; zero, which JSON has nowhere, at the end.
    package var current: UInt8 { offset < bytes.count ? bytes[offset] : 0 }

    package mutating func skipSpace() {
        while offset < bytes.count {
            switch bytes[offset] {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                offset += 1
            default: return
            }
        }
    }

    private mutating func value() throws(JSONSyntaxError) -> JSONValue {
        skipSpace()
        switch current {
        case UInt8(ascii: "{"), UInt8(ascii: "["): return try nested()
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: throw wrong(offset < bytes.count ? "not a JSON value" : "the text ends early")
        }
    }

    /// The object or array that begins at `offset`.
    private mutating func nested() throws(JSONSyntaxError) -> JSONValue {
        guard depth < Self.maximumDepth else {
            throw wrong("nested more than \(Self.maximumDepth) deep")
        }
        depth += 1
        defer { depth -= 1 }
        let isObject = current == UInt8(ascii: "{")
        offset += 1
        return isObject ? try object() : try array()
    }

    private mutating func object() throws(JSONSyntaxError) -> JSONValue {
        var members: [JSONValue.Member] = []
        skipSpace()
        if take("}") { return .object(members) }
        while true {
            skipSpace()
            guard current == UInt8(ascii: "\"") else { throw wrong("a member's name is missing") }
            let name = try string()
            skipSpace()
            guard take(":") else { throw wrong("a colon is missing") }
            members.append(.init(name: name, value: try value()))
            skipSpace()
            if take("}") { return .object(members) }
            guard take(",") else { throw wrong("a comma or } is missing") }
        }
    }

    private mutating func array() throws(JSONSyntaxError) -> JSONValue {
        var elements: [JSONValue] = []
        skipSpace()
        if take("]") { return .array(elements) }
        while true {
            elements.append(try value())
            skipSpace()
            if take("]") { return .array(elements) }
            guard take(",") else { throw wrong("a comma or ] is missing") }
        }
    }

    package mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: character) else { return false }
        offset += 1
        return true
    }

    private mutating func literal(
        _ text: StaticString, _ value: JSONValue
    ) throws(JSONSyntaxError) -> JSONValue {
        for index in 0..<text.utf8CodeUnitCount {
            guard current == text.utf8Start[index] else { throw wrong("not a JSON value") }
            offset += 1
        }
        return value
    }

    private mutating func number() throws(JSONSyntaxError) -> JSONValue {
        let begin = offset
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
        return .number(String(decoding: bytes[begin..<offset], as: UTF8.self))
    }

    private mutating func digits() throws(JSONSyntaxError) {
        let begin = offset
        while UInt8(ascii: "0")...UInt8(ascii: "9") ~= current { offset += 1 }
        guard offset > begin else { throw wrong("a digit is missing") }
    }
}
