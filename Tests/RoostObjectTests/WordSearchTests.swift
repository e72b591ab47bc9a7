import Foundation
import Roost
import RoostTestSupport
import Testing

/// Searches of several words, from an index over the words of each object.
@Suite struct WordSearchTests {
    struct Note: Codable, Identifiable, Equatable, Indexed {
        var id: Int
        var title: String
        var text: String?
        var words: [String] { "\(title) \(text ?? "")".searchWords }
        var textWords: [String]? { text?.searchWords }
        static var indexes: [Index<Note>] { [Index("words", each: \.words)] }
    }

    @Test(arguments: [
        ("", []), ("  -- !", []), ("Hello, hello WORLD", ["hello", "world"]),
        (
            "Naïve CAFÉ-owners don't, 3.14!",
            ["naive", "cafe", "owners", "don", "t", "3", "14"]
        ),
        ("Straße STRASSE ﬁn ｗｉｄｅ x²", ["strasse", "fin", "wide", "x2"]),
        ("ΟΔΟΣ οδός", ["οδοσ"]), ("Ёлка елка", ["елка"]), ("İstanbul ıstanbul", ["istanbul"]),
        ("東京都 に", ["東京", "京都", "都", "に"]), ("ｶﾞﾗｽ", ["ガラ", "ラス", "ス"]),
        ("Swiftで書く", ["swift", "で書", "書く", "く"]), ("한국어 사전", ["한국어", "사전"]),
        ("שָׁלוֹם مُحَمَّد", ["שלום", "محمد"]), ("हिन्दी", ["हिन्दी"]),
        ("❤️ red❤️blue 葛\u{E0100}飾", ["red", "blue", "葛飾", "飾"]),
        ("Donau\u{AD}dampf", ["donaudampf"]),
    ])
    func theWordsOfATextAreAsASearchComparesThem(text: String, words: [String]) {
        #expect(text.searchWords == words)
        #expect(text.decomposedStringWithCanonicalMapping.searchWords == words)
        #expect(Set(words).isSubset(of: words.joined(separator: " ").searchWords))
    }

    @Test func ofALongWordTheBeginningCounts() {
        let long = String(repeating: "ab", count: 500)
        #expect(long.searchWords == [String(long.prefix(64))])
        #expect(("é" + long).searchWords == ["e" + String(long.prefix(63))])
    }

    @Test func aSearchFindsWhatHasAllWordsAndTheLastOneBegun() async throws {
        let workspace = try await Workspace.inMemory()
        let notes = workspace.repository(of: Note.self)
        let texts = [
            "The old harbour", "Harbour lights", "lighthouse of the harbor", "東京都の港", "Hafen, alt",
        ]
        try await notes.saveAll(
            texts.enumerated().map { Note(id: $0.offset, title: $0.element, text: nil) })
        try await notes.indexesBuilt()
        func found(_ text: String) throws -> [Int] {
            let condition = Condition<Note>.make { $0.words.contains(wordsOf: text) }
            let query = notes.where(condition)
            let found = try query.fetch().map(\.id)
            #expect(try query.count() == found.count)
            let asked = try notes.fetch().filter { try condition.matches($0) }.map(\.id)
            #expect(found == asked)
            return found
        }
        #expect(try found("HARBOUR") == [0, 1])
        #expect(try found("harbo") == [0, 1, 2])
        #expect(try found("harbo ") == [])
        #expect(try found("the harb") == [0, 2])
        #expect(try found("harb the") == [])
        #expect(try found("light, hàrb") == [])
        #expect(try found("Lights hàrb") == [1])
        #expect(try found("lights light") == [1])
        #expect(try found("京都") == [3])
        #expect(try found("港") == [3])
        #expect(try found("京港") == [])
        #expect(try found("京 港") == [3])
        #expect(try found("京 ") == [3])
        #expect(try found("都 京都") == [3])
        #expect(try found("") == [0, 1, 2, 3, 4])
        #expect(try found(" … ") == [0, 1, 2, 3, 4])
        let way = try notes.where { $0.words.contains(wordsOf: "the harbour") }.explain()
        #expect(way.hasPrefix("index \"words\""), "\(way)")
        try await workspace.close()
    }

    /// In the order in which it is typed, scalar by scalar, of scripts whose letters have marks or are joined.
    @Test(arguments: [
        "हिन्दी", "क्षत्रिय", "ড়োর বাংলা", "தமிழ் மொழி", "తెలుగు", "മലയാളം", "สวัสดี", "น้ำใจ", "ភាសាខ្មែរ",
        "မြန်မာ", "ພາສາລາວ", "東京都の港", "Swiftで書く", "Straße", "ΟΔΟΣ", "שָׁלוֹם",
    ])
    func whatIsBeingTypedFindsTheText(text: String) async throws {
        let workspace = try await Workspace.inMemory()
        let notes = workspace.repository(of: Note.self)
        try await notes.save(Note(id: 1, title: "x " + text + ", y", text: text))
        try await notes.save(Note(id: 2, title: "nothing", text: nil))
        try await notes.indexesBuilt()
        let scalars = text.unicodeScalars
        for count in 1...scalars.count {
            let typed = String(String.UnicodeScalarView(scalars.prefix(count)))
            let condition = Condition<Note>.make { $0.words.contains(wordsOf: typed) }
            #expect(try notes.where(condition).fetch().map(\.id).contains(1), "\(typed)")
            #expect(
                try notes.where(condition).count()
                    == notes.fetch().count { try condition.matches($0) })
            #expect(
                try notes.where { $0.textWords.contains(wordsOf: typed) }.count() == 1, "\(typed)")
        }
        try await workspace.close()
    }

    @Test func whatIsTypedToItsEndIsWhole() async throws {
        let workspace = try await Workspace.inMemory()
        let notes = workspace.repository(of: Note.self)
        try await notes.saveAll([
            Note(id: 1, title: "สวัสดี", text: nil), Note(id: 2, title: "हिन्दी", text: nil),
        ])
        func found(_ text: String) throws -> [Int] {
            try notes.where { $0.words.contains(wordsOf: text) }.fetch().map(\.id)
        }
        #expect(try found("สวัสด") == [1])
        #expect(try found("สวัสด ") == [])
        #expect(try found("สวัสดี ") == [1])
        #expect(try found("ด") == [1])
        // A character of another's beginning is not the other.
        #expect(try found("ด ") == [])
        #expect(try found("ดี ") == [1])
        #expect(try found("ส ") == [1])
        #expect(try found("हिन्द") == [2])
        #expect(try found("हिन्द ") == [])
        #expect(try found("हिन्दी ") == [2])
        try await workspace.close()
    }

    @Test func textsThatMayBeMissingAreSearchedToo() async throws {
        let workspace = try await Workspace.inMemory()
        let notes = workspace.repository(of: Note.self)
        try await notes.saveAll([
            Note(id: 1, title: "", text: nil), Note(id: 2, title: "", text: "Blue notes"),
        ])
        #expect(
            try notes.where { $0.textWords.contains(wordsOf: "blue n") }.fetch().map(\.id) == [2])
        #expect(try notes.where { $0.textWords.contains(wordsOf: "") }.count() == 2)
        #expect(try notes.where { !$0.textWords.contains(wordsOf: "blue") }.count() == 1)
        try await workspace.close()
    }

    /// What is searched for and what is found are made of the same known words, written in many ways.
    @Test func searchesAgreeWithTheWordsThatTextsAreMadeOf() async throws {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        let known = [
            "a", "ab", "abc", "abcd", "b", "ba", "cafe", "cafes", "strasse", "naive", "nai", "елка",
            "ель", "42", "421", "हिन्दी", "हिन्दू", "বাংলা",
        ]
        let spellings = [
            "cafe": ["café", "CAFÉ", "Cafe\u{301}"], "strasse": ["Straße", "STRASSE"],
            "naive": ["naïve", "ｎａｉｖｅ"], "елка": ["Ёлка", "елка"],
        ]
        func spelled(_ word: String) -> String {
            let spelling = spellings[word]?.randomElement(using: &random) ?? word
            return Bool.random(using: &random) ? spelling.uppercased() : spelling
        }
        func joined(_ words: [String]) -> String {
            words.map {
                $0 + [" ", ", ", "-", "\n", "’", "/"].randomElement(using: &random)!
            }.joined()
        }
        try await withTemporaryDirectory { path in
            var workspace = try await Workspace.open(at: path)
            var notes = workspace.repository(of: Note.self)
            var all: [Int: Set<String>] = [:]
            for round in 0..<60 {
                let id = Int.random(in: 0..<40, using: &random)
                let words = (0..<Int.random(in: 0..<6, using: &random)).map { _ in
                    known.randomElement(using: &random)!
                }
                if Int.random(in: 0..<6, using: &random) == 0 {
                    try await notes.delete(id)
                    all[id] = nil
                } else {
                    let note = Note(id: id, title: joined(words.map(spelled)), text: nil)
                    try await notes.save(note)
                    all[id] = Set(words)
                }
                if round == 30 {
                    try await workspace.compact()
                    try await workspace.close()
                    workspace = try await Workspace.open(at: path)
                    notes = workspace.repository(of: Note.self)
                }
                let wanted = (0..<Int.random(in: 0..<3, using: &random)).map { _ in
                    known.randomElement(using: &random)!
                }
                // Of a word that may grow by a mark or a second letter no part is typed.
                let begun = [
                    "", "a", "ab", "caf", "4", "е", "straß", "ह", "हिन", "हिन्द", "বা", "বাং",
                ].randomElement(using: &random)!
                let typed = joined(wanted.map(spelled)) + begun
                let start = begun == "straß" ? "strass" : begun
                let expected = all.filter { entry in
                    wanted.allSatisfy { entry.value.contains($0) }
                        && (start.isEmpty
                            || entry.value.contains { $0.utf8.starts(with: start.utf8) })
                }.keys.sorted()
                let found = try notes.where { $0.words.contains(wordsOf: typed) }.fetch().map(\.id)
                #expect(found == expected, "seed \(seed), round \(round): \(typed)")
            }
            try await workspace.close()
        }
    }

    @Test func aLiveSearchFollowsWhatIsWritten() async throws {
        let workspace = try await Workspace.inMemory()
        let notes = workspace.repository(of: Note.self)
        var updates = notes.where { $0.words.contains(wordsOf: "blue no") }.updates()
            .makeAsyncIterator()
        #expect(await updates.next()?.isEmpty == true)
        try await notes.save(Note(id: 1, title: "Notes", text: "in Blue"))
        #expect(await updates.next()?.map(\.id) == [1])
        try await notes.save(Note(id: 1, title: "Notes", text: "in red"))
        #expect(await updates.next()?.isEmpty == true)
        try await workspace.close()
    }
}
