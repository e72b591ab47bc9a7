/// Shortens the names of properties by codes for the words that they are made of.
///
/// A code is one byte for what `NameSymbols.short` lists, two for its words, and `escape` and
/// the byte itself for any other byte. The longest that fits is taken each time, so that a name
/// has one form. Each name of a shape is coded once in the life of a coder's caches.
struct NameCodec: Sendable {
    static let shared = NameCodec()
    private static let escape: UInt8 = 0xff
    /// The codes from here up to `escape` are the first byte of a word's two.
    private static let firstLead = 0xf8

    private var codes: [[UInt8]: [UInt8]] = [:]
    private var short: ContiguousArray<[UInt8]> = []
    /// Each word, and then the word with a capital letter.
    private var words: ContiguousArray<[UInt8]> = []
    private var longestCount = 0

    private init() {
        for word in NameSymbols.words {
            words += [
                Array(word.utf8), Array((word.prefix(1).uppercased() + word.dropFirst()).utf8),
            ]
        }
        short += NameSymbols.short.map { Array($0.utf8) }
        precondition(
            short.count == Self.firstLead
                && words.count == (Int(Self.escape) - Self.firstLead) << 8,
            "there is one code too many or few")
        for (index, word) in words.enumerated() {
            codes[word] = [UInt8(Self.firstLead + index >> 8), UInt8(index & 0xff)]
        }
        for (code, symbol) in short.enumerated() { codes[symbol] = [UInt8(code)] }
        longestCount = codes.keys.reduce(0) { max($0, $1.count) }
    }

    func encode(_ name: String) -> [UInt8] {
        var rest = Array(name.utf8)[...]
        var result: [UInt8] = []
        while let first = rest.first {
            let counts = (1...min(rest.count, longestCount)).reversed()
            let found = counts.lazy.compactMap { count in
                codes[Array(rest.prefix(count))].map { (code: $0, count: count) }
            }.first
            result += found?.code ?? [Self.escape, first]
            rest = rest.dropFirst(found?.count ?? 1)
        }
        return result
    }

    /// The name of `bytes`, or `nil` when they are cut short, or it is not valid UTF-8.
    func decode(_ bytes: UnsafeRawBufferPointer) -> String? {
        var name: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let code = Int(bytes[index])
            index += 1
            if code < Self.firstLead {
                name += short[code]
                continue
            }
            guard index < bytes.count else { return nil }
            let second = bytes[index]
            index += 1
            name +=
                code == Int(Self.escape)
                ? [second] : words[(code - Self.firstLead) << 8 + Int(second)]
        }
        return String(validating: name, as: UTF8.self)
    }
}
