extension JSONParser {
    /// The string that begins at `offset`, with its quotes.
    package mutating func string() throws(JSONSyntaxError) -> String {
        offset += 1
        let begin = offset
        while offset < bytes.count {
            switch bytes[offset] {
            case UInt8(ascii: "\""):
                let text = try checked(
                    UnsafeRawBufferPointer(rebasing: bytes[begin..<offset]), at: begin)
                offset += 1
                return text
            case UInt8(ascii: "\\"): return try escapedString(from: begin)
            case 0..<0x20: throw wrong("a control character stands in a string")
            default: offset += 1
            }
        }
        throw wrong("a string does not end")
    }

    private func checked(
        _ text: some Collection<UInt8>, at offset: Int
    ) throws(JSONSyntaxError) -> String {
        guard let string = String(validating: text, as: UTF8.self) else {
            throw JSONSyntaxError(offset: offset, reason: "a string is not UTF-8")
        }
        return string
    }

    /// The rest of a string that has an escape at `offset`; its text begins at `begin`.
    private mutating func escapedString(from begin: Int) throws(JSONSyntaxError) -> String {
        var text = Array(bytes[begin..<offset])
        while offset < bytes.count {
            let byte = bytes[offset]
            switch byte {
            case UInt8(ascii: "\""):
                offset += 1
                return try checked(text, at: begin)
            case UInt8(ascii: "\\"):
                offset += 1
                text.append(contentsOf: Array(String(try escape()).utf8))
            case 0..<0x20: throw wrong("a control character stands in a string")
            default:
                text.append(byte)
                offset += 1
            }
        }
        throw wrong("a string does not end")
    }

    private mutating func escape() throws(JSONSyntaxError) -> Unicode.Scalar {
        let byte = current
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape()
        default: throw wrong("an escape that JSON does not have")
        }
    }

    private mutating func unicodeEscape() throws(JSONSyntaxError) -> Unicode.Scalar {
        let first = try codeUnit()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard 0xd800..<0xdc00 ~= first, take("\\"), take("u") else {
            throw wrong("half a surrogate pair is no character")
        }
        let second = try codeUnit()
        guard 0xdc00..<0xe000 ~= second,
            let scalar = Unicode.Scalar(
                0x10000 + (UInt32(first) - 0xd800) << 10 + UInt32(second) - 0xdc00)
        else { throw wrong("half a surrogate pair is no character") }
        return scalar
    }

    private mutating func codeUnit() throws(JSONSyntaxError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            let byte = current
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: throw wrong("\\u needs four hexadecimal digits")
            }
            unit = unit << 4 | UInt16(digit)
            offset += 1
        }
        return unit
    }
}
