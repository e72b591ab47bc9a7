import Foundation

/// Other values of the same shapes, which nothing was chosen for: random text, prose, other
/// languages, numbers of all digits.
enum CoderVariants {
    static func samples() throws -> [CoderSample] {
        let contacts = (0..<1_000).map(Contact.init)
        let articles = (0..<1_000).map(Article.init)
        let tokens = (0..<1_000).map(Token.init)
        return try CoderSample.forCodable("six-contact", contacts[7])
            + CoderSample.forCodable("six-article", articles[7])
            + CoderSample.forCodable("six-token", tokens[7])
            + CoderSample.forCodable("six-foreign", Contact.foreign)
            + CoderSample.forCodable("array-contact", contacts)
            + CoderSample.forCodable("array-article", articles)
            + CoderSample.forCodable("array-token", tokens)
            + CoderSample.forCodable("wide-random", Reading(seed: 5))
            + CoderSample.forCodable("wide-strings", Form(seed: 6))
    }
}

/// Numbers and short text, as rows of tables have them.
struct Contact: Codable, Equatable {
    var id: Int
    var name: String
    var email: String
    var age: Int
    var score: Double
    var isActive: Bool

    init(_ index: Int) {
        var random = SeededRandom(seed: UInt64(index))
        let first = ["Grace", "Alan", "Barbara", "Edsger", "Margaret", "Tony"][index % 6]
        let last = ["Hopper", "Turing", "Liskov", "Dijkstra", "Hamilton", "Hoare"][index / 6 % 6]
        id = 100_000 + index
        name = "\(first) \(last)"
        email = "\(first.lowercased()).\(last.lowercased())\(index)@example.com"
        age = 18 + Int(random.next() % 70)
        score = random.unit()
        isActive = random.next() % 2 == 0
    }

    static var foreign: Self {
        var contact = Self(3)
        contact.name = "Jürgen Schäfer-Łukaszewicz"
        contact.email = "花子@例え.jp"
        return contact
    }
}

/// A paragraph, as posts and notes have it.
struct Article: Codable, Equatable {
    var id: UUID
    var headline: String
    var body: String
    var publishedAt: Date
    var readers: Int
    var keywords: [String]

    init(_ index: Int) {
        var random = SeededRandom(seed: UInt64(index))
        let words = Self.prose.split(separator: " ")
        func text(_ count: Int) -> String {
            let first = Int(random.next() % UInt64(words.count - count))
            return words[first..<(first + count)].joined(separator: " ")
        }
        id = UUID(
            uuid: withUnsafeBytes(of: (random.next(), random.next())) {
                $0.loadUnaligned(as: uuid_t.self)
            })
        headline = text(6)
        body = text(35)
        publishedAt = Date(timeIntervalSinceReferenceDate: 700_000_000 + random.unit() * 1e8)
        readers = Int(random.next() % 100_000)
        keywords = [text(1), text(1), text(1)]
    }

    private static let prose = """
        The keeper of the lighthouse had counted every ship that passed the northern rocks since \
        the winter of the great storm, and he wrote their names in a narrow book with a green \
        cover. Nobody had asked him to do it. When the harbour master came up the long stair one \
        evening, out of breath and carrying a lantern, he found the old man asleep over the last \
        page, his finger resting on a name that had been crossed out twice. Outside, the wind \
        moved slowly round to the west, and the first rain began to fall upon the glass.
        """
}

/// Text without any pattern, as keys and tokens have it, which no coder shortens.
struct Token: Codable, Equatable {
    var id: String
    var secret: String
    var issuer: String
    var issuedAt: Double
    var uses: Int
    var scopes: [String]

    init(_ index: Int) {
        var random = SeededRandom(seed: UInt64(index))
        id = random.text(16)
        secret = random.text(32)
        issuer = random.text(8)
        issuedAt = 700_000_000 + random.unit() * 1e8
        uses = Int(random.next() % 1_000)
        scopes = [random.text(6), random.text(6)]
    }
}

/// Thirty numbers of all digits.
struct Reading: Codable, Equatable {
    var a1, a2, a3, a4, a5, a6, a7, a8, a9, a10: Double
    var b1, b2, b3, b4, b5, b6, b7, b8, b9, b10: Int
    var c1, c2, c3, c4, c5, c6, c7, c8, c9, c10: Float

    init(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        func real() -> Double { random.unit() * 1_000 }
        func whole() -> Int { Int(truncatingIfNeeded: random.next() >> (random.next() % 60)) }
        func short() -> Float { Float(random.unit()) }
        (a1, a2, a3, a4, a5) = (real(), real(), real(), real(), real())
        (a6, a7, a8, a9, a10) = (real(), real(), real(), real(), real())
        (b1, b2, b3, b4, b5) = (whole(), whole(), whole(), whole(), whole())
        (b6, b7, b8, b9, b10) = (whole(), whole(), whole(), whole(), whole())
        (c1, c2, c3, c4, c5) = (short(), short(), short(), short(), short())
        (c6, c7, c8, c9, c10) = (short(), short(), short(), short(), short())
    }
}

/// Thirty strings without any pattern, under names of two letters.
struct Form: Codable, Equatable {
    var aa, ab, ac, ad, ae, af, ag, ah, ai, aj, ak, al, am, an, ao: String
    var ba, bb, bc, bd, be, bf, bg, bh, bi, bj, bk, bl, bm, bn, bo: String

    init(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        func next() -> String { random.text(10) }
        (aa, ab, ac, ad, ae) = (next(), next(), next(), next(), next())
        (af, ag, ah, ai, aj) = (next(), next(), next(), next(), next())
        (ak, al, am, an, ao) = (next(), next(), next(), next(), next())
        (ba, bb, bc, bd, be) = (next(), next(), next(), next(), next())
        (bf, bg, bh, bi, bj) = (next(), next(), next(), next(), next())
        (bk, bl, bm, bn, bo) = (next(), next(), next(), next(), next())
    }
}

extension SeededRandom {
    /// From zero up to one, with all digits.
    mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// Letters and digits, each as likely.
    mutating func text(_ count: Int) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
        return String((0..<count).map { _ in letters[Int(next() % 62)] })
    }
}
