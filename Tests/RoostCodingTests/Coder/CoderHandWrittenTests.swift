import Foundation
import RoostCoding
import RoostIO
import Testing

private struct Refusal: Error {}

private enum Name: String, CodingKey { case a, b, inner, meta, list }

private struct Pair: Codable, Equatable {
    var a: Int?
    var b: Int?
}

/// Writes a part of itself, an object and a container among it, and throws then.
private struct Half: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        try container.encode(1, forKey: .a)
        try container.encode([Pair(a: 1, b: 2)], forKey: .list)
        try container.encode(["x": ["y": 1]], forKey: .meta)
        var nested = container.nestedUnkeyedContainer(forKey: .inner)
        try nested.encode(2)
        throw Refusal()
    }
}

/// Writes by a closure.
private struct Written: Encodable {
    var write: (any Encoder) throws -> Void
    func encode(to encoder: any Encoder) throws { try write(encoder) }
}

/// Any key.
private struct AnyName: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// The arrays of an object, in the order in which they were written.
private struct Lists: Decodable {
    var lists: [[Int]]
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: AnyName.self)
        lists = try container.allKeys.map { try container.decode([Int].self, forKey: $0) }
    }
}

/// What a coder of another format gives, or is to give, for what these tests write.
private struct Outer: Codable, Equatable {
    var a: Int?
    var inner: Pair?
    var list: [Pair]?
    var meta: [String: Pair]?
}

@Suite struct CoderHandWrittenTests {
    private func read<Value: Codable & Equatable>(
        _ type: Value.Type, isJSON: Bool = true, _ write: @escaping (any Encoder) throws -> Void
    ) throws -> Value {
        let bytes = try RoostCoder().encode(Written(write: write))
        let value = try RoostCoder().decode(type, from: bytes)
        // As an element too, where its object has a header.
        let elements = try RoostCoder().encode([Written(write: write), Written(write: write)])
        #expect(try RoostCoder().decode([Value].self, from: elements) == [value, value])
        // As JSON has it, except that its encoder stops the process where a value throws inside another that throws.
        guard isJSON else { return value }
        let json = try JSONEncoder().encode(Written(write: write))
        #expect(try JSONDecoder().decode(type, from: json) == value)
        return value
    }

    /// What was written for the second was in the container of the first.
    @Test func containersOfKeysWithOtherCodePointsAreTwo() throws {
        let names = ["\u{e9}", "e\u{301}"]
        let written = Written { encoder in
            var container = encoder.container(keyedBy: AnyName.self)
            for (index, name) in names.enumerated() {
                var list = container.nestedUnkeyedContainer(forKey: AnyName(name))
                try list.encode(index)
            }
        }
        let bytes = try RoostCoder().encode(written)
        let read = try RoostCoder().decode(Lists.self, from: bytes)
        #expect(read.lists == [[0], [1]])
    }

    @Test func aValueThatThrowsLeavesNothingInItsObject() throws {
        let last = try read(Outer.self) { encoder in
            var container = encoder.container(keyedBy: Name.self)
            try container.encode(5, forKey: .a)
            try? container.encode(Half(), forKey: .inner)
        }
        #expect(last == Outer(a: 5))
        let replaced = try read(Outer.self) { encoder in
            var container = encoder.container(keyedBy: Name.self)
            do { try container.encode(Half(), forKey: .inner) } catch {
                try container.encode(Pair(a: 3), forKey: .inner)
            }
            try container.encode(5, forKey: .a)
        }
        #expect(replaced == Outer(a: 5, inner: Pair(a: 3)))
    }

    @Test func aValueThatThrowsLeavesNothingInAnArray() throws {
        let outer = try read(Outer.self, isJSON: false) { encoder in
            var container = encoder.container(keyedBy: Name.self)
            var list = container.nestedUnkeyedContainer(forKey: .list)
            try list.encode(Pair(a: 1))
            try? list.encode([Half()])
            #expect(list.count == 1)
            try list.encode(Pair(b: 2))
            try? list.encode(Half())
        }
        #expect(outer == Outer(list: [Pair(a: 1), Pair(b: 2)]))
    }

    @Test func aValueThatThrowsLeavesNothingInASingleValue() throws {
        let pair = try read([Pair].self) { encoder in
            var container = encoder.unkeyedContainer()
            try container.encode(
                Written { encoder in
                    var single = encoder.singleValueContainer()
                    do { try single.encode(Half()) } catch { try single.encode(Pair(a: 4)) }
                })
        }
        #expect(pair == [Pair(a: 4)])
    }

    @Test func aValueThatThrowsLeavesNothingInADictionary() throws {
        struct Sometimes: Encodable {
            var value: Int
            func encode(to encoder: any Encoder) throws {
                if value < 0 { try Half().encode(to: encoder) }
                try Pair(a: value).encode(to: encoder)
            }
        }
        let values = ["z": Sometimes(value: 1), "a": Sometimes(value: -1)]
        let outer = try read(Outer.self, isJSON: false) { encoder in
            var container = encoder.container(keyedBy: Name.self)
            // Written in order, and by the standard library.
            try? container.encode(values, forKey: .meta)
            try container.encode(
                values.filter { $0.value.value > 0 }, forKey: .meta)
        }
        #expect(outer == Outer(meta: ["z": Pair(a: 1)]))
    }

    @Test func aContainerThatIsAskedForAgainGoesOn() throws {
        let outer = try read(Outer.self) { encoder in
            var container = encoder.container(keyedBy: Name.self)
            var first = container.nestedContainer(keyedBy: Name.self, forKey: .inner)
            try first.encode(1, forKey: .a)
            var list = container.nestedUnkeyedContainer(forKey: .list)
            try list.encode(Pair(a: 1))
            try container.encode(5, forKey: .a)
            var again = container.nestedContainer(keyedBy: Name.self, forKey: .inner)
            try again.encode(2, forKey: .b)
            var listAgain = container.nestedUnkeyedContainer(forKey: .list)
            #expect(listAgain.count == 1)
            try listAgain.encode(Pair(a: 2))
            try list.encode(Pair(a: 3))
        }
        #expect(
            outer
                == Outer(
                    a: 5, inner: Pair(a: 1, b: 2), list: [Pair(a: 1), Pair(a: 2), Pair(a: 3)]))
    }

    @Test func aContainerAfterNothingAndAValueAfterAContainer() throws {
        let absent = try read(Outer.self) { encoder in
            var container = encoder.container(keyedBy: Name.self)
            try container.encodeIfPresent(Pair?.none, forKey: .inner)
            var inner = container.nestedContainer(keyedBy: Name.self, forKey: .inner)
            try inner.encode(1, forKey: .a)
        }
        #expect(absent == Outer(inner: Pair(a: 1)))
        let replaced = try read(Outer.self) { encoder in
            var container = encoder.container(keyedBy: Name.self)
            var inner = container.nestedContainer(keyedBy: Name.self, forKey: .inner)
            try inner.encode(1, forKey: .a)
            try container.encode(Pair(b: 2), forKey: .inner)
        }
        #expect(replaced == Outer(inner: Pair(b: 2)))
    }

    @Test func aContainerDoesNotReplaceAValue() {
        let written = Written { encoder in
            var container = encoder.container(keyedBy: Name.self)
            try container.encode(1, forKey: .a)
            try container.encode(Pair(a: 1), forKey: .inner)
            var inner = container.nestedContainer(keyedBy: Name.self, forKey: .inner)
            try inner.encode(2, forKey: .b)
        }
        for encode in [
            { try RoostCoder().encode(written) }, { try RoostCoder().encode([written]) },
        ] {
            #expect { try encode() } throws: { ($0 as? RoostError)?.code == .encodingFailed }
        }
    }

    private class Base: Codable {
        var a = 1
        enum Keys: CodingKey { case meta }
        enum Members: CodingKey { case a, b }

        init() {}

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            a = try container.nestedContainer(keyedBy: Members.self, forKey: .meta)
                .decode(Int.self, forKey: .a)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            var meta = container.nestedContainer(keyedBy: Members.self, forKey: .meta)
            try meta.encode(a, forKey: .a)
        }
    }

    private final class Derived: Base {
        var b = 2

        override init() { super.init() }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            b = try container.nestedContainer(keyedBy: Members.self, forKey: .meta)
                .decode(Int.self, forKey: .b)
            try super.init(from: decoder)
        }

        override func encode(to encoder: any Encoder) throws {
            try super.encode(to: encoder)
            var container = encoder.container(keyedBy: Keys.self)
            var meta = container.nestedContainer(keyedBy: Members.self, forKey: .meta)
            try meta.encode(b, forKey: .b)
        }
    }

    @Test func aSubclassWritesIntoTheContainerOfItsSuperclass() throws {
        let value = Derived()
        (value.a, value.b) = (10, 20)
        let read = try RoostCoder().decode(Derived.self, from: RoostCoder().encode(value))
        #expect(read.a == 10 && read.b == 20)
    }
}
