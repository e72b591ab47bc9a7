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
    private var beginnings: [WordBeginning] = []

    init(_ text: String) {
        var last: SearchRuns.Run?
        SearchRuns.forEach(in: text) { run in
            if let last { add(last, isEnded: true) }
            last = run
        }
        guard let last else { return }
        // Behind a space a word is ended.
        add(last, isEnded: !(text.unicodeScalars.last.map(FoldedScalar.isInWord) ?? false))
    }

    private mutating func add(_ run: SearchRuns.Run, isEnded: Bool) {
        switch run {
        case .word(let word) where isEnded: words.add(word)
        case .word(let word): add(WordBeginning(word, endsWithCharacter: false))
        // Of a pair it is the first, and of a run the last.
        case .joined(let characters) where characters.count == 1:
            add(WordBeginning(characters[0], endsWithCharacter: isEnded))
        case .joined(let characters) where isEnded: words.addPairs(of: characters)
        case .joined(let characters):
            // Marks of the last one may be missing yet.
            words.addPairs(of: characters.dropLast())
            add(WordBeginning(characters.suffix(2).joined(), endsWithCharacter: false))
        }
    }

    private mutating func add(_ beginning: WordBeginning) {
        if !beginnings.contains(beginning) { beginnings.append(beginning) }
    }

    /// All of it, of conditions for one word and for one that is begun.
    func condition<Root>(
        word: (String) -> Condition<Root>, begun: (WordBeginning) -> Condition<Root>
    ) -> Condition<Root> {
        // One that a whole word begins with as well asks for nothing more.
        let beginnings = beginnings.filter { beginning in
            !words.all.contains { beginning.isBegin(of: $0) }
        }
        return .all(of: words.all.map(word) + beginnings.map(begun))
    }
}

/// What a word has to begin with that is being typed.
///
/// - It is compared by scalars, as an index has them, and not by characters: what is typed next may be a mark, or a letter
///   that is joined to the last one, and make another character of it.
struct WordBeginning: Sendable, Equatable {
    let text: String
    /// Whether the last character is all there, so that no mark may follow it.
    private let endsWithCharacter: Bool

    init(_ text: String, endsWithCharacter: Bool) {
        self.text = text.inComposedForm
        self.endsWithCharacter = endsWithCharacter
    }

    func isBegin(of word: String) -> Bool {
        let word = word.inComposedForm
        guard word.utf8.starts(with: text.utf8) else { return false }
        guard endsWithCharacter else { return true }
        let rest = word.unicodeScalars.dropFirst(text.unicodeScalars.count)
        return rest.first.map { !FoldedScalar.isMark($0) } ?? true
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
    mutating func addPairs(of characters: some Collection<String>) {
        for (character, next) in zip(characters, characters.dropFirst()) { add(character + next) }
    }
}
