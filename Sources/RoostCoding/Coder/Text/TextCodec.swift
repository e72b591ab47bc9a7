/// Shortens text of up to 255 bytes by codes for what is frequent in it.
///
/// A code is one byte: the place of its symbol in `TextSymbols`, or `escape`, which a byte that
/// has no symbol follows. The longest symbol that fits is taken each time, so that equal text
/// has equal codes.
///
/// - No symbol is longer than 8 bytes, and all are ASCII.
/// - `candidates` holds the symbols of two bytes and more, those with the same hash of their
///   first two bytes one after another, longer ones first; `heads` says where each run begins.
/// - Sendable, since nothing is changed after `init`, and the one codec is never released.
final class TextCodec: @unchecked Sendable {
    static let shared = TextCodec()
    static let escape: UInt8 = 0xff
    /// Shorter text hardly shrinks; longer text is left to the compression of cold storage.
    static let countLimits = 3...255

    private struct Candidate {
        var symbol: UInt64
        var mask: UInt64
        var code: UInt8
        var count: UInt8
        var isLast: Bool
    }

    private static let noCandidates: UInt16 = 0xffff
    private static let headCount = 1024

    /// The bytes of each code, the first one lowest, and their number.
    private let symbols = filled(with: UInt64(0), count: 256)
    private let counts = filled(with: UInt8(0), count: 256)
    /// The code of each byte, or `escape`.
    private let singles = filled(with: escape, count: 256)
    private let heads = filled(with: noCandidates, count: headCount)
    private let candidates: UnsafeMutablePointer<Candidate>

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
                let candidate = Candidate(
                    symbol: symbol, mask: .max >> UInt64(64 - 8 * Int(count)), code: code,
                    count: count, isLast: false)
                runs[Self.hash(symbol)].append(candidate)
            }
        }
        var ordered: [Candidate] = []
        for (hash, run) in runs.enumerated() where !run.isEmpty {
            heads[hash] = UInt16(ordered.count)
            ordered += run.sorted { $0.count > $1.count }
            ordered[ordered.count - 1].isLast = true
        }
        candidates = .allocate(capacity: ordered.count)
        candidates.initialize(from: ordered, count: ordered.count)
    }

    @inline(__always)
    private static func hash(_ word: UInt64) -> Int {
        Int((UInt32(truncatingIfNeeded: word & 0xffff) &* 0x9e37_79b1) >> 22)
    }

    /// Writes the codes of `text`, which is of at least one byte, to `target`.
    ///
    /// - Returns: their number, or `nil` where it would not be less than that of the text; then
    ///   fewer than that have been written.
    func encode(_ text: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer) -> Int? {
        guard let start = text.baseAddress else { return nil }
        let end = start + text.count
        let limit = target + (text.count - 1)
        var (position, output) = (start, target)
        // The last bytes of a short text, which no eight can be read of at once.
        let short = text.count < 8 ? Self.assemble(text) : 0
        while position < end {
            let left = end - position
            let word =
                if left >= 8 {
                    UInt64(littleEndian: position.loadUnaligned(as: UInt64.self))
                } else if text.count >= 8 {
                    UInt64(littleEndian: (end - 8).loadUnaligned(as: UInt64.self))
                        >> UInt64(64 - 8 * left)
                } else {
                    short >> UInt64(8 * (text.count - left))
                }
            guard output < limit else { return nil }
            if let symbol = longest(word) {
                output.storeBytes(of: symbol.code, as: UInt8.self)
                output += 1
                position += symbol.count
                continue
            }
            let byte = UInt8(truncatingIfNeeded: word)
            let code = singles[Int(byte)]
            output.storeBytes(of: code, as: UInt8.self)
            output += 1
            position += 1
            if code == Self.escape {
                guard output < limit else { return nil }
                output.storeBytes(of: byte, as: UInt8.self)
                output += 1
            }
        }
        return output - target
    }

    @inline(__always)
    private func longest(_ word: UInt64) -> (code: UInt8, count: Int)? {
        let head = heads[Self.hash(word)]
        guard head != Self.noCandidates else { return nil }
        var index = Int(head)
        while true {
            let candidate = candidates[index]
            if word & candidate.mask == candidate.symbol {
                return (candidate.code, Int(candidate.count))
            }
            if candidate.isLast { return nil }
            index += 1
        }
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
