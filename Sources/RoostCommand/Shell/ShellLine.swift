/// The words of a line: separated by spaces, or in double quotes, where a backslash takes the next
/// character as it is.
struct ShellLine {
    var words: [String] = []
    /// Where each word begins in the line, so that a value may be taken as it was typed.
    private var begins: [String.Index] = []
    private let line: String

    struct OpenQuote: Error {}

    init(_ line: String) throws(OpenQuote) {
        self.line = line
        var word: String?
        var isQuoted = false
        var index = line.startIndex
        while index < line.endIndex {
            let character = line[index]
            if word == nil, !character.isWhitespace {
                word = ""
                begins.append(index)
            }
            if character == "\"" {
                isQuoted.toggle()
            } else if character == "\\", isQuoted, line.index(after: index) < line.endIndex {
                index = line.index(after: index)
                word?.append(line[index])
            } else if character.isWhitespace, !isQuoted {
                if let done = word { words.append(done) }
                word = nil
            } else {
                word?.append(character)
            }
            index = line.index(after: index)
        }
        if isQuoted { throw OpenQuote() }
        if let word { words.append(word) }
    }

    /// The line from the word at `index` on, as it was typed.
    func rest(from index: Int) -> String {
        index < begins.count ? String(line[begins[index]...]) : ""
    }
}
