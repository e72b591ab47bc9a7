import Foundation
import Synchronization

/// A scalar of a text in the form in which a search compares it: by Unicode's compatibility decomposition (UAX 15), without
/// marks that people leave out, and upper case, which writes out what has no single capital, made lower case.
struct FoldedScalar {
    enum Role { case separator, letter, mark, joinedLetter }

    let scalar: Unicode.Scalar
    let role: Role

    init(_ scalar: Unicode.Scalar) {
        self.scalar = scalar
        role = Self.role(of: scalar)
    }

    private init(_ scalar: Unicode.Scalar, _ role: Role) {
        self.scalar = scalar
        self.role = role
    }

    /// What is in words: letters, numbers, and marks, which belong to the letter before them.
    static func isInWord(_ scalar: Unicode.Scalar) -> Bool { role(of: scalar) != .separator }

    /// What belongs to the letter before it.
    static func isMark(_ scalar: Unicode.Scalar) -> Bool { role(of: scalar) == .mark }

    static func all(of text: String) -> [FoldedScalar] {
        var known = known.withLock { $0 }
        let knownCount = known.count
        var all: [FoldedScalar] = []
        all.reserveCapacity(text.utf8.count)
        // Whether some have to be put together with those before them.
        var isComposed = true
        for scalar in text.unicodeScalars {
            if let folded = unchanged(scalar) {
                all.append(folded)
                continue
            }
            let folded: [FoldedScalar]
            if let found = known[scalar] {
                folded = found
            } else {
                folded = fold(scalar)
                known[scalar] = folded
            }
            if let first = folded.first, first.role == .mark || isPartOfSyllable(first.scalar) {
                isComposed = false
            }
            all += folded
        }
        if known.count > knownCount, known.count <= mostKnown {
            Self.known.withLock { if $0.count < known.count { $0 = known } }
        }
        if isComposed { return all }
        let scalars = String.UnicodeScalarView(all.map(\.scalar))
        return String(scalars).precomposedStringWithCanonicalMapping.unicodeScalars
            .map { FoldedScalar($0) }
    }

    /// Of scalars that were met, as finding it out takes microseconds. There are about a thousand in texts of Europe.
    private static let known = Mutex<[Unicode.Scalar: [FoldedScalar]]>([:])
    private static let mostKnown = 8_192

    /// Those that are most of texts and change only by case, or not at all.
    private static func unchanged(_ scalar: Unicode.Scalar) -> FoldedScalar? {
        switch scalar.value {
        case 0x61...0x7A, 0x30...0x39: FoldedScalar(scalar, .letter)
        case 0x41...0x5A: FoldedScalar(Unicode.Scalar(UInt8(scalar.value | 0x20)), .letter)
        case 0...0x7F: FoldedScalar(scalar, .separator)
        case 0x4E00...0x9FFF: FoldedScalar(scalar, .joinedLetter)
        // Syllables of Hangul, which their decomposition only takes apart.
        case 0xAC00...0xD7A3: FoldedScalar(scalar, .letter)
        default: nil
        }
    }

    private static func fold(_ scalar: Unicode.Scalar) -> [FoldedScalar] {
        var folded = String.UnicodeScalarView()
        for part in String(scalar).decomposedStringWithCompatibilityMapping.unicodeScalars
        where !isLeftOut(part) {
            for upper in part.properties.uppercaseMapping.unicodeScalars {
                folded.append(contentsOf: upper.properties.lowercaseMapping.unicodeScalars)
            }
        }
        // What case writes out may have such marks again.
        let parts = String(folded).decomposedStringWithCanonicalMapping.unicodeScalars
            .filter { !isLeftOut($0) }
        return String(String.UnicodeScalarView(parts)).precomposedStringWithCanonicalMapping
            .unicodeScalars.map { FoldedScalar($0) }
    }

    /// The combining marks of Latin, Greek and Cyrillic, the points of Hebrew, and those of Arabic with its lengthening
    /// stroke; and what only says how a text is shown: where a word may be parted, and which form of a letter is meant.
    private static func isLeftOut(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0300...0x036F, 0x0591...0x05BD, 0x05BF, 0x05C1, 0x05C2, 0x05C4, 0x05C5, 0x05C7,
            0x0640, 0x064B...0x065F, 0x0670, 0x00AD, 0x2060, 0xFE00...0xFE0F, 0xFEFF,
            0xE0100...0xE01EF:
            true
        default: false
        }
    }

    /// Letters of Hangul that are put together to syllables.
    private static func isPartOfSyllable(_ scalar: Unicode.Scalar) -> Bool {
        (0x1100...0x11FF).contains(scalar.value)
    }

    private static func role(of scalar: Unicode.Scalar) -> Role {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: .mark
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
            .decimalNumber, .letterNumber, .otherNumber:
            isWrittenWithoutSpaces(scalar) ? .joinedLetter : .letter
        default: .separator
        }
    }

    private static func isWrittenWithoutSpaces(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Thai and Lao, Burmese, Khmer, kana, and Chinese characters with those that were added to them.
        case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x3040...0x30FF, 0x31F0...0x31FF,
            0x3005...0x3007, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xF900...0xFAFF,
            0x20000...0x3FFFF:
            true
        default: false
        }
    }
}
