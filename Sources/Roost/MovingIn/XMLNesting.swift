import RoostIO

/// How deep the elements of an XML property list go, found without a parser, since Foundation's goes down
/// with what it reads; and whether keys of a dictionary are equal, of which Foundation drops one.
///
/// - Each byte is looked at once.
/// - What could be read in two ways is refused, so that Foundation finds no level that was not counted:
///   `<` or `>` inside an attribute, an end without its begin, an encoding in which `<` is another byte.
struct XMLNesting {
    private let bytes: UnsafeRawBufferPointer
    private let limit: Int
    private var index = 0
    private var depth = 0
    /// The keys of each element that is open.
    private var keys: [Set<String>] = []

    init(_ bytes: UnsafeRawBufferPointer, limit: Int) {
        self.bytes = bytes
        self.limit = limit
    }

    /// - Throws: `.decodingFailed` with the line.
    mutating func check() throws {
        while let begin = find(UInt8(ascii: "<")) {
            if skip("<!--") {
                try skipBehind("-->", from: begin)
            } else if skip("<![CDATA[") {
                try skipBehind("]]>", from: begin)
            } else if skip("<?") {
                try skipBehind("?>", from: begin)
                try checkEncoding(begin..<index)
            } else if skip("<!") {
                guard depth == 0 else { throw failure("a declaration within an element", begin) }
                // Of a declaration within a document type the end is another's begin.
                try skipBehind(">", from: begin)
            } else if skip("</") {
                depth -= 1
                guard depth >= 0 else { throw failure("an element ends that has not begun", begin) }
                try skipTag(from: begin)
                keys.removeLast()
            } else {
                try enter(from: begin)
            }
        }
    }

    private mutating func enter(from begin: Int) throws {
        index += 1
        try skipTag(from: begin)
        // As `<true/>`.
        if bytes[index - 2] == UInt8(ascii: "/") { return }
        depth += 1
        guard depth <= limit else {
            throw failure("elements are nested deeper than \(limit) levels", begin)
        }
        if bytes[begin...].starts(with: Array("<key>".utf8)) { try noteKey(from: begin) }
        keys.append([])
    }

    /// As the key is written: what entities stand for is not looked at.
    private mutating func noteKey(from begin: Int) throws {
        let text = bytes[index...].prefix { $0 != UInt8(ascii: "<") }
        guard !keys.isEmpty, let key = String(validating: text, as: UTF8.self),
            let other = keys[keys.count - 1].update(with: key)
        else { return }
        throw failure(PropertyListBounds.equalKeys(other, key).message, begin)
    }

    /// Goes after the `>` of a tag.
    private mutating func skipTag(from begin: Int) throws {
        var quote: UInt8?
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: ">") where quote == nil: return
            case UInt8(ascii: "<"), UInt8(ascii: ">"): throw failure("a tag has no end", begin)
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                if quote == nil { quote = byte } else if quote == byte { quote = nil }
            default: break
            }
        }
        throw failure("a tag has no end", begin)
    }

    /// Other encodings may write `<` as other bytes, which this does not see.
    private func checkEncoding(_ instruction: Range<Int>) throws {
        let text = String(decoding: bytes[instruction], as: UTF8.self).lowercased()
        guard text.hasPrefix("<?xml") else { return }
        for part in text.split(separator: "encoding", omittingEmptySubsequences: false).dropFirst()
        {
            let name = part.drop { " \t\r\n=\"'".contains($0) }.prefix {
                !" \t\r\n\"'?".contains($0)
            }
            guard ["utf-8", "us-ascii", "iso-8859-1"].contains(name) else {
                throw failure(
                    "it is in another encoding than UTF-8: write it as UTF-8, or as a binary list",
                    instruction.lowerBound)
            }
        }
    }

    /// Goes to the next `byte`, whose index is returned; `nil` where there is none.
    private mutating func find(_ byte: UInt8) -> Int? {
        while index < bytes.count {
            if bytes[index] == byte { return index }
            index += 1
        }
        return nil
    }

    /// Goes after `text` where it stands here.
    private mutating func skip(_ text: StaticString) -> Bool {
        guard isHere(text) else { return false }
        index += text.utf8CodeUnitCount
        return true
    }

    private mutating func skipBehind(_ end: StaticString, from begin: Int) throws {
        while index < bytes.count {
            if skip(end) { return }
            index += 1
        }
        throw failure("what begins here has no end", begin)
    }

    private func isHere(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard bytes.count - index >= count else { return false }
        return (0..<count).allSatisfy { bytes[index + $0] == text.utf8Start[$0] }
    }

    private func failure(_ reason: String, _ offset: Int) -> RoostError {
        let line = bytes[..<offset].count { $0 == UInt8(ascii: "\n") } + 1
        return RoostError(.decodingFailed, "this is no property list: \(reason), on line \(line)")
    }
}
