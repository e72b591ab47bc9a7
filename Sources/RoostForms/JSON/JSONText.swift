extension JSONValue {
    /// The value as JSON on one line, without spaces.
    package var text: String {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the value as JSON on one line, without spaces. Text beyond ASCII stays as it is.
    package func write(to output: inout [UInt8]) {
        switch self {
        case .null: output += "null".utf8
        case .bool(let value): output += (value ? "true" : "false").utf8
        case .number(let text): output += text.utf8
        case .string(let text): Self.write(text, to: &output)
        case .array(let elements):
            output.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                element.write(to: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .object(let members):
            output.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                Self.write(member.name, to: &output)
                output.append(UInt8(ascii: ":"))
                member.value.write(to: &output)
            }
            output.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ text: String, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { utf8 in
            // What needs no escape is copied in runs.
            var begin = 0
            for index in utf8.indices {
                guard let escape = escape(utf8[index]) else { continue }
                output.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[begin..<index]))
                output += escape.utf8
                begin = index + 1
            }
            output.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[begin...]))
        }
        output.append(UInt8(ascii: "\""))
    }

    /// How a byte stands in a JSON string; `nil` for as it is.
    @inline(__always)
    private static func escape(_ byte: UInt8) -> String? {
        if byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { return nil }
        switch byte {
        case UInt8(ascii: "\""): return "\\\""
        case UInt8(ascii: "\\"): return "\\\\"
        case UInt8(ascii: "\n"): return "\\n"
        case UInt8(ascii: "\r"): return "\\r"
        case UInt8(ascii: "\t"): return "\\t"
        // As Foundation writes them, so that what it has written is written alike.
        case 0x08: return "\\b"
        case 0x0c: return "\\f"
        default: return (byte < 16 ? "\\u000" : "\\u00") + String(byte, radix: 16)
        }
    }
}
