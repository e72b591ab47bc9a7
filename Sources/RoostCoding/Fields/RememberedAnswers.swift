import RoostIO

/// What a test of one property said of the bytes that the property was stored as: values are few where a
/// condition leaves many objects out, and equal bytes have equal answers. For one user at a time.
///
/// - It finds the property's bytes without reading anything of them: under its name in the last table that was
///   met, or under its number.
/// - Only short values that stand for themselves are remembered: what refers to the table does not.
/// - Where most values are new, nothing is looked up any more.
package final class RememberedAnswers {
    private let reader: StoredReader<Bool>
    /// By the values' own bytes; empty slots are zero, which no value is.
    private var words: [UInt128]
    private var answers: [Bool]
    private var missCount = 0
    private var hitCount = 0
    /// Where the property was in a coded value.
    private var table: CoderTable?
    private var index = 0
    private var tableCount = 0
    /// The number that the property has in a binary value; zero where that is not known.
    private var number = 0

    private static let slotCount = 256
    /// From here on it counts whether they are worth it.
    private static let leastMissCount = 512
    private static let tableLimit = 16

    package init(_ reader: StoredReader<Bool>) {
        self.reader = reader
        words = Array(repeating: 0, count: Self.slotCount)
        answers = Array(repeating: false, count: Self.slotCount)
    }

    private var isWorthIt: Bool { missCount < Self.leastMissCount || missCount < hitCount }

    /// The answer to a coded value, if that is known.
    package func answer(toCoded bytes: UnsafeRawBufferPointer) -> Bool? {
        guard isWorthIt, let word = codedWord(bytes) else { return nil }
        return answer(to: word)
    }

    /// The answer to a binary value, if that is known.
    package func answer(toBinary bytes: UnsafeRawBufferPointer) -> Bool? {
        guard isWorthIt, number > 0, let word = binaryWord(bytes) else { return nil }
        return answer(to: word)
    }

    @inline(__always)
    private func answer(to word: UInt128) -> Bool? {
        let slot = Self.slot(of: word)
        guard words[slot] == word else { return nil }
        hitCount += 1
        return answers[slot]
    }

    /// Remembers what the test said of a coded value.
    package func note(_ answer: Bool, ofCoded bytes: UnsafeRawBufferPointer) {
        guard isWorthIt, let name = reader.codedName else { return }
        missCount += 1
        var word = codedWord(bytes)
        if word == nil, tableCount < Self.tableLimit {
            learn(name, from: bytes)
            word = codedWord(bytes)
        }
        if let word { set(answer, word) }
    }

    /// Remembers what the test said of a binary value, where it has read just one field for that.
    package func note(_ answer: Bool, ofBinary bytes: UnsafeRawBufferPointer) {
        guard isWorthIt, let read = reader.binary else { return }
        missCount += 1
        // Of a field that stands there twice, who has read others before may have met the second.
        guard let found = onlyField(that: read, reads: bytes), found.answer == answer,
            number == 0 || number == found.number
        else { return }
        number = found.number
        if let word = binaryWord(bytes) { set(answer, word) }
    }

    private func set(_ answer: Bool, _ word: UInt128) {
        let slot = Self.slot(of: word)
        words[slot] = word
        answers[slot] = answer
    }

    @inline(__always)
    private static func slot(of word: UInt128) -> Int {
        let folded = UInt64(truncatingIfNeeded: word) ^ UInt64(truncatingIfNeeded: word >> 64)
        return Int(truncatingIfNeeded: (folded &* 0x9e37_79b9_7f4a_7c15) >> 56)
    }

    /// The bytes and how many they are; `nil` where they are too many.
    @inline(__always)
    private static func word(
        from start: UnsafeRawPointer, to end: UnsafeRawPointer
    ) -> UInt128? {
        let count = end - start
        guard count > 0, count < MemoryLayout<UInt128>.size else { return nil }
        var word = UInt128(count) << 120
        if count <= 8 {
            for offset in 0..<count {
                word |= UInt128((start + offset).load(as: UInt8.self)) << UInt128(8 * offset)
            }
        } else {
            let low = start.loadUnaligned(as: UInt64.self)
            let high = (end - 8).loadUnaligned(as: UInt64.self) >> UInt64(8 * (16 - count))
            word |= UInt128(UInt64(littleEndian: low)) | UInt128(high) << 64
        }
        return word
    }
}

// MARK: Coded values

extension RememberedAnswers {
    private func learn(_ name: String, from bytes: UnsafeRawBufferPointer) {
        tableCount += 1
        table = nil
        guard let start = bytes.baseAddress, bytes.first == CoderTag.rootObject else { return }
        var reader = BinaryReader(
            from: start + 1, to: start + bytes.count, depth: 0, owner: RoostCoder.self)
        do {
            let table = try CoderTable(&reader)
            // By their bytes, as properties are found: Swift holds more than those to be equal.
            guard let shape = table.lastShape,
                let index = (0..<shape.count).first(where: {
                    shape.names[$0].utf8.elementsEqual(name.utf8)
                })
            else { return }
            self.table = table
            self.index = index
        } catch {
            // Decoding the object says what is wrong with it.
        }
    }

    private func codedWord(_ bytes: UnsafeRawBufferPointer) -> UInt128? {
        guard let table, let start = bytes.baseAddress, bytes.first == CoderTag.rootObject,
            table.begins(UnsafeRawBufferPointer(rebasing: bytes[1...]))
        else { return nil }
        let limit = start + bytes.count
        var position = start + (1 + table.sizeBytes)
        do {
            for _ in 0..<index {
                position = try CoderValue(start: position, limit: limit).end()
            }
            let value = CoderValue(start: position, limit: limit)
            let end = try value.end()
            guard value.isPlain else { return nil }
            return Self.word(from: position, to: end)
        } catch {
            // Decoding the object says what is wrong with it.
            return nil
        }
    }
}

extension CoderValue {
    /// Whether it is a value that holds no other, and refers to nothing.
    fileprivate var isPlain: Bool {
        switch tag {
        case CoderTag.array, CoderTag.map, CoderTag.object, CoderTag.absent, CoderTag.rootObject,
            CoderTag.shortObject..<(CoderTag.shortObject + UInt8(CoderTag.shortObjectLimit)):
            false
        default: true
        }
    }
}

// MARK: Binary values

extension RememberedAnswers {
    private func binaryWord(_ bytes: UnsafeRawBufferPointer) -> UInt128? {
        guard let start = bytes.baseAddress else { return nil }
        var reader = BinaryReader(
            from: start, to: start + bytes.count, depth: 0, owner: RoostCoder.self)
        do {
            guard let begin = try reader.begin(ofField: number) else { return nil }
            return Self.word(from: begin, to: reader.cursor)
        } catch {
            // Decoding the object says what is wrong with it.
            return nil
        }
    }

    /// The number of the one field that a test reads, and what it says then; `nil` where it reads none or several.
    private func onlyField(
        that read: (inout BinaryReader) throws -> Bool, reads bytes: UnsafeRawBufferPointer
    ) -> (number: Int, answer: Bool)? {
        guard let start = bytes.baseAddress else { return nil }
        do {
            var whole = BinaryReader(
                from: start, to: start + bytes.count, depth: 0, owner: RoostCoder.self)
            let answer = try read(&whole)
            let number = whole.lastNumber
            guard number > 0 else { return nil }
            var field = BinaryReader(
                from: start, to: start + bytes.count, depth: 0, owner: RoostCoder.self)
            guard let begin = try field.begin(ofField: number) else { return nil }
            // Of nothing but the field, from its end: whatever is asked for is searched for.
            var only = BinaryReader(from: begin, to: field.cursor, depth: 0, owner: RoostCoder.self)
            only.searchFromEnd()
            guard try read(&only) == answer, only.lastNumber == number, only.searchCount == 1,
                only.cursor == only.end
            else { return nil }
            return (number, answer)
        } catch {
            return nil
        }
    }
}
