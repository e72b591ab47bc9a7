import ArgumentParser
import Foundation
import Roost

/// A name or key of the workspace that stands on the command line before it, for completion by a shell.
enum WorkspaceCompletion {
    static let dictionaries = CompletionKind.custom { words, _, prefix in
        names(CommandLineWords(words, prefix)) { workspace, line in
            try workspace.dictionaryNames.filter { $0.utf8.starts(with: line.last.utf8) }
        }
    }

    static let keys = CompletionKind.custom { words, _, prefix in
        names(CommandLineWords(words, prefix)) { workspace, line in
            let names = Set(try workspace.dictionaryNames)
            guard let name = line.words.last(where: names.contains) else { return [] }
            var range = StoredRange(dictionary: name)
            range.prefix = line.last
            range.limit = 100
            let records = try StoredRecords(workspace, range)
            var keys: [String] = []
            while let record = try records.next() { keys.append(record.key) }
            return keys
        }
    }

    /// Nothing where no word is a workspace, or it is open elsewhere: a shell that completes has no
    /// place for an error.
    private static func names(
        _ line: CommandLineWords, _ body: (Workspace, CommandLineWords) throws -> [String]
    ) -> [String] {
        for word in line.words.dropFirst() {
            guard
                let workspace = try? Workspace(
                    at: word, configuration: .init(access: .readOnly)),
                let names = try? body(workspace, line)
            else { continue }
            return names.compactMap(line.answer)
        }
        return []
    }
}

/// The words of a command line that a shell asks to complete, as they were meant: shells hand them on as they were typed,
/// with quotes and backslashes.
struct CommandLineWords {
    /// But the one that is to be completed.
    private(set) var words: [String] = []
    /// What there is of the word that is to be completed.
    private(set) var last: String
    /// The quote that is open in the last word.
    private var quote: Character?
    /// Whether the answer is what is missing of the last word, and not the whole.
    private let isRest: Bool

    init(_ words: [String], _ prefix: String) {
        let environment = ProcessInfo.processInfo.environment
        if let line = environment["ROOST_COMPLETION_LINE"] {
            isRest = true
            (self.words, last, quote) = Self.parse(line)
            return
        }
        isRest = false
        let version = environment["SAP_SHELL_VERSION"] ?? ""
        // Such a fish gives words without quotes.
        let isPlain = CompletionShell.requesting == .fish && version.hasPrefix("3.")
        self.words = isPlain ? words : words.map { Self.parse($0, isOneWord: true).last }
        last = isPlain ? prefix : Self.parse(prefix, isOneWord: true).last
    }

    /// A name as the shell that asked takes it; `nil` for what has no place in one line of text.
    func answer(_ name: String) -> String? {
        // A line ends a name, a tabulator begins a description, and nobody types the other ones.
        guard !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return nil }
        if isRest {
            guard name.utf8.starts(with: last.utf8) else { return nil }
            return String(decoding: name.utf8.dropFirst(last.utf8.count), as: UTF8.self)
                .reduce(into: "") { $0 += escaped($1) }
        }
        guard CompletionShell.requesting == .zsh else { return name }
        // zsh takes what stands behind a colon for a description.
        return name.replacingOccurrences(of: ":", with: "\\:")
    }

    /// For bash, within the quote that is open.
    private func escaped(_ character: Character) -> String {
        switch quote {
        case "'": character == "'" ? "'\\''" : String(character)
        case .some:
            // A shell that keeps a history takes an exclamation mark for a command to it, in such quotes too.
            character == "!"
                ? "\"\\!\"" : ("\"$`\\".contains(character) ? "\\" : "") + String(character)
        case nil:
            (character.isLetter || character.isNumber || "_./:@%+,-".contains(character)
                ? "" : "\\")
                + String(character)
        }
    }

    /// The words of a line as POSIX shells take it apart, without expansions.
    private static func parse(
        _ line: String, isOneWord: Bool = false
    ) -> (words: [String], last: String, quote: Character?) {
        var words: [String] = []
        var last = ""
        var quote: Character?
        var isWord = false
        var isEscaped = false
        for character in line {
            if isEscaped {
                // In double quotes a backslash is one, but before what has a meaning there.
                if quote != nil, !"\"$`\\".contains(character) { last.append("\\") }
                last.append(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                (isEscaped, isWord) = (true, true)
            } else if character == quote {
                quote = nil
            } else if quote == nil, character == "'" || character == "\"" {
                (quote, isWord) = (character, true)
            } else if quote == nil, !isOneWord, character.isWhitespace {
                if isWord { words.append(last) }
                (last, isWord) = ("", false)
            } else {
                last.append(character)
                isWord = true
            }
        }
        return (words, last, quote)
    }
}
