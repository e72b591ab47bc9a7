import Foundation

/// What the tabulator key puts into a line, so that `ShellLine` reads the word that was meant.
extension ShellLine {
    /// What stands in the place of a word that has `text` so far, and the words that it may become.
    ///
    /// Words with spaces get their quotes: an opening one where there are several, as more is to be typed.
    ///
    /// - Parameter isQuoted: Whether a quote is open already. The editor closes that itself.
    /// - Returns: `nil` where no word fits. Control characters cannot be typed, so words that have some do not.
    static func completion(
        of text: String, isQuoted: Bool, among words: [String]
    ) -> (text: String, words: [String])? {
        let fitting = words.filter { word in
            word.utf8.starts(with: text.utf8)
                && !word.unicodeScalars.contains { $0.properties.generalCategory == .control }
        }
        guard var common = fitting.first else { return nil }
        for word in fitting { common = common.commonPrefix(with: word) }
        if isQuoted { return (withEscapes(common), fitting) }
        guard fitting.contains(where: needsQuotes) else { return (common, fitting) }
        return ("\"" + withEscapes(common) + (fitting.count == 1 ? "\"" : ""), fitting)
    }

    /// The words of a quoted text: a backslash takes the next character as it is.
    static func withoutEscapes(_ text: String) -> String {
        var plain = ""
        var isEscaped = false
        for character in text {
            if character == "\\", !isEscaped {
                isEscaped = true
            } else {
                plain.append(character)
                isEscaped = false
            }
        }
        return plain
    }

    private static func withEscapes(_ text: String) -> String {
        text.reduce(into: "") { escaped, character in
            if character == "\"" || character == "\\" { escaped.append("\\") }
            escaped.append(character)
        }
    }

    private static func needsQuotes(_ word: String) -> Bool {
        word.isEmpty || word.contains { $0.isWhitespace || $0 == "\"" }
    }
}
