/// The pieces of a text that words are made of, with what a search has no regard to taken away.
enum SearchRuns {
    enum Run {
        case word(String)
        /// Of a language that is written without spaces: letter by letter, each with its marks.
        case joined([String])
    }

    /// Of a longer word the beginning counts: there is text whose words are no words, such as keys and encoded data.
    static let longestWordCount = 64

    static func forEach(in text: String, _ body: (Run) -> Void) {
        var native = text
        let isPlain = native.withUTF8 { bytes in
            guard bytes.allSatisfy({ $0 < 0x80 }) else { return false }
            forEach(inASCII: bytes, body)
            return true
        }
        if !isPlain { forEach(inFolded: FoldedScalar.all(of: text), body) }
    }

    private static func forEach(
        inASCII bytes: UnsafeBufferPointer<UInt8>, _ body: (Run) -> Void
    ) {
        var rest = bytes[...]
        while let start = rest.firstIndex(where: isAlphanumeric) {
            rest = rest[start...]
            let word = rest.prefix(while: isAlphanumeric)
            rest = rest[word.endIndex...]
            let counted = word.prefix(longestWordCount)
            let lower = String(unsafeUninitializedCapacity: counted.count) { lower in
                // The bit that lower case has and upper case has not; digits have it.
                for (place, byte) in counted.enumerated() {
                    lower.initializeElement(at: place, to: byte | 0x20)
                }
                return counted.count
            }
            body(.word(lower))
        }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    private static func forEach(inFolded scalars: [FoldedScalar], _ body: (Run) -> Void) {
        // What was read of a run, in UTF-8.
        var run: [UInt8] = []
        var wordCount = 0
        // Where the letters of a joined run begin in it.
        var starts: [Int] = []
        func end() {
            if wordCount > 0 { body(.word(String(decoding: run, as: UTF8.self))) }
            if !starts.isEmpty {
                let ends = starts.dropFirst() + [run.count]
                body(
                    .joined(zip(starts, ends).map { String(decoding: run[$0..<$1], as: UTF8.self) })
                )
            }
            run.removeAll(keepingCapacity: true)
            starts.removeAll(keepingCapacity: true)
            wordCount = 0
        }
        for folded in scalars {
            switch folded.role {
            case .separator:
                end()
                continue
            // Of the letter before it; one of what is no letter is passed by.
            case .mark where !starts.isEmpty: break
            case .mark where wordCount == 0: continue
            case .letter, .mark:
                if !starts.isEmpty { end() }
                wordCount += 1
                if wordCount > longestWordCount { continue }
            case .joinedLetter:
                if wordCount > 0 { end() }
                starts.append(run.count)
            }
            run.append(contentsOf: UTF8.encode(folded.scalar)!)
        }
        end()
    }
}
