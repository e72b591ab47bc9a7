/// The commands of a text that was pasted: a line each, but for what goes on over several, as an open quote and a
/// value of `set` in brackets do.
///
/// A terminal's editor gives all that is pasted as one line, with the line ends in it.
struct PastedLines {
    private(set) var commands: [String] = []

    init(_ text: String) {
        var begin = text.startIndex
        var line = Openness()
        for index in text.indices {
            let character = text[index]
            let isEnd = character == "\n" || character == "\r" || character == "\r\n"
            if isEnd, !line.goesOn {
                append(text[begin..<index])
                begin = text.index(after: index)
                line = Openness()
            } else {
                line.take(character)
            }
        }
        append(text[begin...])
    }

    private mutating func append(_ command: Substring) {
        if !command.allSatisfy(\.isWhitespace) { commands.append(String(command)) }
    }

    /// What is open where a command has been read so far.
    private struct Openness {
        private var firstWord: String?
        private var isFirstWordRead = false
        private var depth = 0
        private var isQuoted = false
        private var isEscaped = false

        var goesOn: Bool { isQuoted || (firstWord == "set" && depth > 0) }

        mutating func take(_ character: Character) {
            if character.isWhitespace {
                isFirstWordRead = firstWord != nil
            } else if !isFirstWordRead {
                firstWord = (firstWord ?? "") + String(character)
            }
            switch character {
            case _ where isEscaped: isEscaped = false
            case "\\" where isQuoted: isEscaped = true
            case "\"": isQuoted.toggle()
            case "{" where !isQuoted, "[" where !isQuoted: depth += 1
            case "}" where !isQuoted, "]" where !isQuoted: depth -= 1
            default: break
            }
        }
    }
}
