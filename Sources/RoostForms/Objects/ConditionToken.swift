/// A word of a condition.
struct ConditionToken {
    enum Kind {
        case symbol(String)
        /// `isOfObject` where it is written as of the object: `$0.spent`.
        case path([String], isOfObject: Bool)
        case literal(JSONValue)
        case end

        var description: String {
            switch self {
            case .symbol(let text): text
            case .path(let names, _): names.joined(separator: ".")
            case .literal(let value): value.text
            case .end: "the end"
            }
        }
    }

    var kind: Kind
    var column: Int

    /// The words of a text, and after them `.end`.
    static func tokens(of text: String) throws(ConditionError) -> [ConditionToken] {
        var scanner = ConditionScanner(text: Array(text))
        var tokens: [ConditionToken] = []
        while true {
            let token = try scanner.token()
            tokens.append(token)
            if case .end = token.kind { return tokens }
        }
    }
}

private struct ConditionScanner {
    let text: [Character]
    private var place = 0

    // Longer ones first.
    private static let symbols = [
        "&&", "||", "==", "!=", "<=", ">=", "<", ">", "!", "(", ")", "[", "]", ",",
    ]

    init(text: [Character]) { self.text = text }

    mutating func token() throws(ConditionError) -> ConditionToken {
        while place < text.count, text[place].isWhitespace { place += 1 }
        let column = place + 1
        guard place < text.count else { return ConditionToken(kind: .end, column: column) }
        return ConditionToken(kind: try kind(), column: column)
    }

    private mutating func kind() throws(ConditionError) -> ConditionToken.Kind {
        let first = text[place]
        if first == "\"" || first == "'" { return .literal(.string(try quoted(first))) }
        if first.isNumber || first == "-" { return .literal(.number(try number())) }
        if first == ".", place + 1 < text.count, isNameStart(text[place + 1]) {
            place += 1
            return .literal(.string(name()))
        }
        if isNameStart(first) { return try word() }
        for symbol in Self.symbols where text[place...].starts(with: symbol) {
            place += symbol.count
            return .symbol(symbol)
        }
        throw ConditionError(column: place + 1, reason: "\(first) has no meaning here")
    }

    private func isNameStart(_ character: Character) -> Bool {
        character.isLetter || character == "_" || character == "$"
    }

    private mutating func name() -> String {
        let start = place
        while place < text.count, isNameStart(text[place]) || text[place].isNumber { place += 1 }
        return String(text[start..<place])
    }

    private mutating func word() throws(ConditionError) -> ConditionToken.Kind {
        var names = [name()]
        while place < text.count, text[place] == "." || text[place] == "?" {
            // As Swift has it after an optional: author?.name.
            if text[place] == "?" { place += 1 }
            guard place < text.count, text[place] == "." else { break }
            place += 1
            guard place < text.count, isNameStart(text[place]) else {
                throw ConditionError(column: place + 1, reason: "expected a name behind the dot")
            }
            names.append(name())
        }
        switch names {
        case ["true"]: return .literal(.bool(true))
        case ["false"]: return .literal(.bool(false))
        case ["nil"], ["null"]: return .literal(.null)
        case ["and"]: return .symbol("&&")
        case ["or"]: return .symbol("||")
        case ["not"]: return .symbol("!")
        default:
            // As it stands in the program: $0.priority.
            let isOfObject = names[0] == "$0"
            if isOfObject { names.removeFirst() }
            guard !names.isEmpty else {
                throw ConditionError(column: place, reason: "expected a member of $0")
            }
            return .path(names, isOfObject: isOfObject)
        }
    }

    private mutating func number() throws(ConditionError) -> String {
        let start = place
        if text[place] == "-" { place += 1 }
        while place < text.count {
            let character = text[place]
            let isSign =
                (character == "-" || character == "+") && "eE".contains(text[place - 1])
            guard character.isASCII, character.isNumber || ".eE_".contains(character) || isSign
            else { break }
            place += 1
        }
        let written = text[start..<place].filter { $0 != "_" }
        guard let value = Double(String(written)), value.isFinite else {
            throw ConditionError(column: start + 1, reason: "\(String(written)) is no number")
        }
        return String(written)
    }

    private mutating func quoted(_ quote: Character) throws(ConditionError) -> String {
        let start = place
        place += 1
        var content = ""
        while place < text.count {
            let character = text[place]
            place += 1
            if character == quote { return content }
            guard character == "\\", place < text.count else {
                content.append(character)
                continue
            }
            switch text[place] {
            case "n": content.append("\n")
            case "t": content.append("\t")
            case "\\", "\"", "'": content.append(text[place])
            default:
                throw ConditionError(
                    column: place,
                    reason: "\\\(text[place]) is none of \\n, \\t, \\\\, \\\" and \\'")
            }
            place += 1
        }
        throw ConditionError(column: start + 1, reason: "the text has no end")
    }
}
