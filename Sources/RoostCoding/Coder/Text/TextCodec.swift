/// Shortens text of up to 255 bytes by codes for what is frequent in it.
///
/// A code is one byte: the place of its symbol in `TextSymbols`, or `escape`, which a byte that
/// has no symbol follows. The longest symbol that fits is taken each time, so that equal text
/// has equal codes.
///
/// - No symbol is longer than 8 bytes, and all are ASCII.
/// - `candidates` begins with a place for each hash of two bytes, with the longest symbol of two
///   bytes and more that begins with such; the others of the hash are linked after it, longer
///   ones first. A place without a symbol matches nothing.
/// - Sendable, since nothing is changed after `init`, and the one codec is never released.
final class TextCodec: @unchecked Sendable {
    static let shared = TextCodec()
    static let escape: UInt8 = 0xff
    /// Shorter text hardly shrinks; longer text is left to the compression of cold storage.
    static let countLimits = 3...255
    /// Text that does not shrink by two bytes in its first 16 hardly will: tokens and the like.
    private static let probedCount = 16
    private static let leastSaved = 2

    private struct Candidate {
        var symbol: UInt64
        /// How far to the left a word goes until only the symbol's bytes are left.
        var shift: UInt8
        var count: UInt8
        var code: UInt8
        var hasNext: Bool
        var next: UInt16

        /// Valid UTF-8 never has this byte.
        static let none = Candidate(
            symbol: .max, shift: 0, count: 1, code: escape, hasNext: false, next: 0)
    }

    private static let headCount = 1024

    /// The bytes of each code, the first one lowest, and their number.
    private let symbols = filled(with: UInt64(0), count: 256)
    private let counts = filled(with: UInt8(0), count: 256)
    /// The code of each byte, or `escape`.
    private let singles = filled(with: escape, count: 256)
    private let candidates = filled(with: Candidate.none, count: headCount + 256)

    private static func filled<Element>(
        with element: Element, count: Int
    ) -> UnsafeMutablePointer<Element> {
        let memory = UnsafeMutablePointer<Element>.allocate(capacity: count)
        memory.initialize(repeating: element, count: count)
        return memory
    }

    private init() {
        precondition(TextSymbols.all.count == Int(Self.escape), "there is one code too many or few")
        var runs: [[Candidate]] = Array(repeating: [], count: Self.headCount)
        for (index, text) in TextSymbols.all.enumerated() {
            let code = UInt8(index)
            let symbol = text.utf8.reversed().reduce(0) { $0 << 8 | UInt64($1) }
            let count = UInt8(text.utf8.count)
            symbols[Int(code)] = symbol
            counts[Int(code)] = count
            if count == 1 {
                singles[Int(symbol)] = code
            } else {
                runs[Self.hash(symbol)].append(
                    Candidate(
                        symbol: symbol, shift: 64 - 8 * count, count: count, code: code,
                        hasNext: false, next: 0))
            }
        }
        var free = Self.headCount
        for (hash, run) in runs.enumerated() {
            var place = hash
            let ordered = run.sorted { $0.count > $1.count }
            for (index, candidate) in ordered.enumerated() {
                candidates[place] = candidate
                guard index + 1 < ordered.count else { break }
                candidates[place].hasNext = true
                candidates[place].next = UInt16(free)
                place = free
                free += 1
            }
        }
    }

    @inline(__always)
    private static func hash(_ word: UInt64) -> Int {
        Int((UInt32(truncatingIfNeeded: word & 0xffff) &* 0x9e37_79b1) >> 22)
    }

    /// Writes the codes of `text`, which is of at least one byte, to `target`.
    ///
    /// - Returns: their number, or `nil` where it would not be less than that of the text, or
    ///   hardly; then fewer than that have been written.
    func encode(_ text: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer) -> Int? {
        guard let start = text.baseAddress else { return nil }
        var place = Progress(
            position: start, output: target, limit: target + (text.count - 1),
            end: start + text.count)
        guard text.count >= 8 else {
            // No eight bytes can be read at once.
            let word = Self.assemble(text)
            while place.position < place.end {
                let shift = UInt64(8 * (place.position - start))
                guard step(word &>> shift, &place) else { return nil }
            }
            return place.output - target
        }
        let last = place.end - 8
        if text.count > Self.probedCount {
            while place.position < min(start + Self.probedCount, last) {
                let word = place.position.loadUnaligned(as: UInt64.self)
                guard step(UInt64(littleEndian: word), &place) else { return nil }
            }
            let saved = (place.position - start) - (place.output - target)
            guard saved >= Self.leastSaved else { return nil }
        }
        while place.position <= last {
            let word = place.position.loadUnaligned(as: UInt64.self)
            guard step(UInt64(littleEndian: word), &place) else { return nil }
        }
        let word = UInt64(littleEndian: last.loadUnaligned(as: UInt64.self))
        while place.position < place.end {
            let shift = UInt64(8 * (place.position - last))
            guard step(word &>> shift, &place) else { return nil }
        }
        return place.output - target
    }

    private struct Progress {
        var position: UnsafeRawPointer
        var output: UnsafeMutableRawPointer
        /// Where the codes would be as many as the bytes.
        let limit: UnsafeMutableRawPointer
        let end: UnsafeRawPointer
    }

    /// Writes the code for what `word` begins with. Says whether there was room.
    @inline(__always)
    private func step(_ word: UInt64, _ place: inout Progress) -> Bool {
        guard place.output < place.limit else { return false }
        var candidate = candidates + Self.hash(word)
        while true {
            if (word ^ candidate.pointee.symbol) &<< UInt64(candidate.pointee.shift) == 0 {
                place.output.storeBytes(of: candidate.pointee.code, as: UInt8.self)
                place.output += 1
                place.position += Int(candidate.pointee.count)
                return true
            }
            guard candidate.pointee.hasNext else { break }
            candidate = candidates + Int(candidate.pointee.next)
        }
        let byte = UInt8(truncatingIfNeeded: word)
        let code = singles[Int(byte)]
        place.output.storeBytes(of: code, as: UInt8.self)
        place.output += 1
        place.position += 1
        guard code == Self.escape else { return true }
        guard place.output < place.limit else { return false }
        place.output.storeBytes(of: byte, as: UInt8.self)
        place.output += 1
        return true
    }

    private static func assemble(_ text: UnsafeRawBufferPointer) -> UInt64 {
        text.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The text of `codes`, or `nil` when they are cut short, or it is not valid.
    func decode(_ codes: UnsafeRawBufferPointer) -> String? {
        var count = 0
        var index = 0
        while index < codes.count {
            let code = codes[index]
            index += code == Self.escape ? 2 : 1
            count += code == Self.escape ? 1 : Int(counts[Int(code)])
        }
        guard index == codes.count else { return nil }
        // Each symbol is stored as eight bytes, the last one too.
        return withUnsafeTemporaryAllocation(byteCount: count + 8, alignment: 8) { buffer in
            guard var output = buffer.baseAddress else { return nil }
            var index = 0
            while index < codes.count {
                let code = codes[index]
                if code == Self.escape {
                    output.storeBytes(of: codes[index + 1], as: UInt8.self)
                    output += 1
                    index += 2
                } else {
                    let symbol = symbols[Int(code)].littleEndian
                    output.storeBytes(of: symbol, as: UInt64.self)
                    output += Int(counts[Int(code)])
                    index += 1
                }
            }
            return String(validUTF8: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }
}
