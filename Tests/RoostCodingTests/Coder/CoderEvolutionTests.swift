import Foundation
import RoostCoding
import RoostIO
import Testing

private struct OldAccount: Codable, Equatable {
    var name: String
    var balance: Int
    var dropped: [String: [Int]]
}

/// Later: reordered, one property dropped, one wider, two added.
private struct NewAccount: Codable, Equatable {
    var added: String?
    var balance: Double
    var extra: [Tree]?
    var name: String
}

@Suite struct CoderEvolutionTests {
    private let coder = RoostCoder()

    @Test func bothWays() throws {
        let old = OldAccount(name: "a", balance: 5, dropped: ["x": [1], "y": []])
        let new = try coder.decode([NewAccount].self, from: coder.encode([old, old]))
        #expect(new == [NewAccount](repeating: .init(balance: 5, name: "a"), count: 2))
        struct Slim: Codable, Equatable { var balance: Double }
        let rich = NewAccount(added: "+", balance: 2.5, extra: [.leaf], name: "b")
        let slim = try coder.decode([Slim].self, from: coder.encode([rich, rich]))
        #expect(slim == [Slim(balance: 2.5), Slim(balance: 2.5)])
    }

    @Test func reversedOrder() throws {
        struct Forward: Codable { var a = 1, b = "b", c = [1, 2], d: Int? = 4, e = 5.5 }
        struct Backward: Codable { var e: Double, d: Int?, c: [Int], b: String, a: Int }
        let value = try coder.decode(Backward.self, from: coder.encode(Forward()))
        #expect(value.a == 1 && value.b == "b" && value.c == [1, 2] && value.d == 4)
        #expect(value.e == 5.5)
    }

    @Test func aMissingPropertyIsNamed() throws {
        let bytes = try coder.encode(["inner": [["name": "a"]]])
        #expect {
            try coder.decode([String: [OldAccount]].self, from: bytes)
        } throws: { error in
            guard let error = error as? RoostError else { return false }
            return error.code == .decodingFailed && error.message.contains("inner.0.balance")
                && error.cause is DecodingError
        }
    }

    @Test func aNilPropertyIsAsIfMissing() throws {
        struct Keyed: Codable {
            var a: Int?
            enum CodingKeys: CodingKey { case a, b }
            init() {}
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encodeIfPresent(a, forKey: .a)
                try container.encodeNil(forKey: .b)
            }
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                #expect(!container.contains(.a))
                #expect(container.contains(.b))
                #expect(try container.decodeNil(forKey: .b))
                #expect(container.allKeys == [.b])
            }
        }
        _ = try coder.decode(Keyed.self, from: coder.encode(Keyed()))
    }

    /// It was said not to fit.
    @Test(arguments: [UInt64(Int64.max), UInt64(Int64.max) + 1, .max, 128, 127])
    func wholeNumbersBecomeDoubles(_ number: UInt64) throws {
        let bytes = try coder.encode([number])
        #expect(try coder.decode([Double].self, from: bytes) == [Double(number)])
        #expect(try coder.decode([Float].self, from: bytes) == [Float(Double(number))])
        let wide = try coder.encode(UInt128(number) + (1 << 64))
        #expect(throws: RoostError.self) { try coder.decode(Double.self, from: wide) }
    }

    /// The error named no property, and was none of `Codable`'s.
    @Test(arguments: [300, -300, -3])
    func aNumberThatDoesNotFitIsNamed(_ number: Int) throws {
        let bytes = try coder.encode(["ages": [7, number]])
        #expect {
            try coder.decode([String: [UInt8]].self, from: bytes)
        } throws: { error in
            guard let error = error as? RoostError,
                case .dataCorrupted(let context)? = error.cause as? DecodingError
            else { return false }
            return context.codingPath.map(\.stringValue) == ["ages", "1"]
                && error.message.contains("ages.1: The stored number does not fit UInt8")
        }
    }

    /// The error spoke of another type.
    @Test func anArrayThatIsNullIsSaidToBe() throws {
        let bytes = try coder.encode(["tags": nil] as [String: [String]?])
        #expect {
            try coder.decode([String: [String]].self, from: bytes)
        } throws: { error in
            guard case .valueNotFound? = (error as? RoostError)?.cause as? DecodingError else {
                return false
            }
            return (error as? RoostError)?.message.contains("tags") ?? false
        }
    }

    @Test func otherTypes() throws {
        #expect(try coder.decode(Int64.self, from: coder.encode(5 as Int8)) == 5)
        #expect(throws: RoostError.self) { try coder.decode(Int8.self, from: coder.encode(300)) }
        #expect(throws: RoostError.self) { try coder.decode(UInt.self, from: coder.encode(-300)) }
        #expect(throws: RoostError.self) { try coder.decode(UInt.self, from: coder.encode(-3)) }
        #expect(throws: RoostError.self) { try coder.decode(Int.self, from: coder.encode("a")) }
        #expect(throws: RoostError.self) { try coder.decode(String.self, from: coder.encode(1)) }
        #expect(throws: RoostError.self) { try coder.decode([Int].self, from: coder.encode(1)) }
        #expect(throws: RoostError.self) { try coder.decode(Tree.self, from: coder.encode([1])) }
    }
}
