import Foundation

extension String {
    /// The words of the text, each once, as a search compares them: without regard to case, marks above and below letters,
    /// and widths of letters. What an index over each is made of, for `contains(wordsOf:)`:
    ///
    /// ```swift
    /// struct Note: Codable, Identifiable, Indexed {
    ///     var id = UUID(); var title = ""; var text = ""
    ///     var words: [String] { "\(title) \(text)".searchWords }
    ///     static var indexes: [Index<Note>] { [Index("words", each: \.words)] }
    /// }
    /// ```
    ///
    /// "Naïve CAFÉ-owners don't, 3.14!" has the words naive, cafe, owners, don, t, 3 and 14: a word is what stands between
    /// characters that are neither letters nor numbers, and its first 64 letters count. Languages that are written without
    /// spaces, as Chinese, Japanese and Thai, have each pair of neighbours as a word, and the last character of such a run.
    ///
    /// The same text has the same words whichever language the user has. Takes time in proportion to the
    /// text: about 20 ns a byte of ASCII, a few times as much of others. Does not suspend.
    public var searchWords: [String] {
        var words = WordsInOrder()
        SearchRuns.forEach(in: self) { run in
            switch run {
            case .word(let word): words.add(word)
            case .joined(let characters):
                words.addPairs(of: characters)
                if let last = characters.last { words.add(last) }
            }
        }
        return words.all
    }
}

/// What a text asks for of the words that objects have.
struct SearchedWords {
    /// Whole words.
    private var words = WordsInOrder()
    /// What a word only has to begin with.
    private var beginnings = WordsInOrder()

    /// All of it, of conditions for one word and for one that is begun.
    func condition<Root>(
        word: (String) -> Condition<Root>, begun: (String) -> Condition<Root>
    ) -> Condition<Root> {
        // One that a whole word begins with as well asks for nothing more.
        let beginnings = beginnings.all.filter { beginning in
            !words.all.contains { $0.hasPrefix(beginning) }
        }
        return .all(of: words.all.map(word) + beginnings.map(begun))
    }

    init(_ text: String) {
        var last: String?
        SearchRuns.forEach(in: text) { run in
            if let last { words.add(last) }
            last = nil
            switch run {
            case .word(let word): last = word
            // Of a pair it is the first, and of a run the last.
            case .joined(let characters) where characters.count == 1: beginnings.add(characters[0])
            case .joined(let characters): words.addPairs(of: characters)
            }
        }
        guard let last else { return }
        // Behind a space the word is ended.
        if text.unicodeScalars.last.map(FoldedScalar.isInWord) ?? false {
            beginnings.add(last)
        } else {
            words.add(last)
        }
    }
}

/// Each word once, in the order in which they come.
private struct WordsInOrder {
    private(set) var all: [String] = []
    private var known: Set<String> = []

    mutating func add(_ word: String) {
        if known.insert(word).inserted { all.append(word) }
    }

    /// Of each character with the next.
    mutating func addPairs(of characters: [String]) {
        for (character, next) in zip(characters, characters.dropFirst()) { add(character + next) }
    }
}
