import Foundation

/// A small, fast, reproducible source of randomness (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }

    /// An integer whose magnitude is as likely to be small as large.
    mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type) -> Value {
        let wide = UInt128(next()) << 64 | UInt128(next())
        let shifted = wide >> UInt128(next() % 128)
        let value = Value(truncatingIfNeeded: shifted)
        return next() % 2 == 0 ? value : 0 &- value
    }

    mutating func double() -> Double {
        switch next() % 8 {
        case 0: .infinity
        case 1: -.infinity
        case 2: -0.0
        case 3: .leastNonzeroMagnitude
        default: Double(integer(Int64.self)) / 7
        }
    }

    mutating func string() -> String {
        let alphabet = ["a", "Z", "0", " ", "é", "e\u{301}", "漢", "👩‍👩‍👧", "\0", "\"", "\u{10ffff}"]
        let count = next() % 10 == 0 ? 200 : Int(next() % 20)
        return (0..<count).map { _ in alphabet[Int(next() % UInt64(alphabet.count))] }.joined()
    }

    mutating func bytes() -> [UInt8] {
        let count = next() % 10 == 0 ? 300 : Int(next() % 20)
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    mutating func uuid() -> UUID {
        let words = (next(), next())
        return UUID(uuid: withUnsafeBytes(of: words) { $0.loadUnaligned(as: uuid_t.self) })
    }

    mutating func array<Element>(
        upTo limit: Int, _ element: (inout SeededGenerator) -> Element
    ) -> [Element] {
        (0..<Int(next() % UInt64(limit + 1))).map { _ in element(&self) }
    }
}

/// The seeds that the property tests run with: the fixed ones, and a new one in each run.
/// A failing test prints the seed; put it in this list to see the failure again.
let seeds: [UInt64] = [1, 2, 3, UInt64.random(in: 4...UInt64.max)]
