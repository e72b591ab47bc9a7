import Foundation
import RoostCoding
import RoostIO
import Testing

private class Animal: Codable {
    var name: String
    init(name: String) { self.name = name }
}

/// A subclass that writes its superclass apart.
private final class Dog: Animal {
    var age: Int
    enum CodingKeys: CodingKey { case age }

    init(name: String, age: Int) {
        self.age = age
        super.init(name: name)
    }

    required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        age = try container.decode(Int.self, forKey: .age)
        try super.init(from: container.superDecoder())
    }

    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try super.encode(to: container.superEncoder())
        try container.encode(age, forKey: .age)
    }
}

/// A subclass that writes its superclass into the same object.
private final class Cat: Animal {
    var lives: Int
    enum CodingKeys: CodingKey { case lives }

    init(name: String, lives: Int) {
        self.lives = lives
        super.init(name: name)
    }

    required init(from decoder: any Decoder) throws {
        lives = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .lives)
        try super.init(from: decoder)
    }

    override func encode(to encoder: any Encoder) throws {
        try super.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(lives, forKey: .lives)
    }
}

/// Containers inside one another, all open and written to by turns.
private struct Interleaved: Codable, Equatable {
    var numbers: [Int]
    enum Keys: CodingKey { case first, second, list, last }

    init(numbers: [Int]) { self.numbers = numbers }

    func encode(to encoder: any Encoder) throws {
        var outer = encoder.container(keyedBy: Keys.self)
        var first = outer.nestedContainer(keyedBy: Keys.self, forKey: .first)
        var list = outer.nestedUnkeyedContainer(forKey: .list)
        var second = outer.nestedContainer(keyedBy: Keys.self, forKey: .second)
        try first.encode(numbers[0], forKey: .first)
        try list.encode(numbers[1])
        try second.encode(numbers[2], forKey: .first)
        var inner = list.nestedContainer(keyedBy: Keys.self)
        try outer.encode(numbers[3], forKey: .last)
        try list.encode(numbers[4])
        try inner.encode(numbers[5], forKey: .list)
        try first.encode(numbers[6], forKey: .second)
    }

    init(from decoder: any Decoder) throws {
        let outer = try decoder.container(keyedBy: Keys.self)
        let first = try outer.nestedContainer(keyedBy: Keys.self, forKey: .first)
        let second = try outer.nestedContainer(keyedBy: Keys.self, forKey: .second)
        var list = try outer.nestedUnkeyedContainer(forKey: .list)
        #expect(list.count == 3)
        #expect(list.codingPath.last?.stringValue == "list")
        numbers = [try first.decode(Int.self, forKey: .first), try list.decode(Int.self)]
        let inner = try list.nestedContainer(keyedBy: Keys.self)
        numbers.append(try second.decode(Int.self, forKey: .first))
        numbers.append(try outer.decode(Int.self, forKey: .last))
        numbers.append(try list.decode(Int.self))
        numbers.append(try inner.decode(Int.self, forKey: .list))
        numbers.append(try first.decode(Int.self, forKey: .second))
        #expect(list.isAtEnd)
        #expect(outer.allKeys.count == 4)
    }
}

/// Hands its coder on, as property wrappers do.
private struct Wrapped<Value: Codable & Equatable>: Codable, Equatable {
    var value: Value
    init(_ value: Value) { self.value = value }
    func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
    init(from decoder: any Decoder) throws { value = try Value(from: decoder) }
}

/// Writes its value as a single one, and hands its decoder on.
private struct SingleValue<Value: Codable & Equatable>: Codable, Equatable {
    var value: Value
    init(_ value: Value) { self.value = value }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
    init(from decoder: any Decoder) throws { value = try Value(from: decoder) }
}

/// Writes what it does not know beside its own properties.
private struct Event: Codable, Equatable {
    var id: Int
    var extras: [String: Int]
    enum Keys: CodingKey { case id }

    init(id: Int, extras: [String: Int]) {
        self.id = id
        self.extras = extras
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(id, forKey: .id)
        try extras.encode(to: encoder)
    }

    init(from decoder: any Decoder) throws {
        id = try decoder.container(keyedBy: Keys.self).decode(Int.self, forKey: .id)
        extras = try [String: Int](from: decoder).filter { $0.key != "id" }
    }
}

/// Writes what it does not know before its own properties, of which one is nested.
private struct LateEvent: Codable, Equatable {
    var id: Int
    var place: [String: Int]
    var extras: [String: Int]
    enum Keys: CodingKey { case id, place }
    enum PlaceKeys: String, CodingKey { case x, y }

    init(id: Int, place: [String: Int], extras: [String: Int]) {
        self.id = id
        self.place = place
        self.extras = extras
    }

    func encode(to encoder: any Encoder) throws {
        try extras.encode(to: encoder)
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(id, forKey: .id)
        var nested = container.nestedContainer(keyedBy: PlaceKeys.self, forKey: .place)
        for (key, value) in place {
            try nested.encode(value, forKey: PlaceKeys(rawValue: key) ?? .x)
        }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        id = try container.decode(Int.self, forKey: .id)
        place = try container.decode([String: Int].self, forKey: .place)
        extras = [:]
        let all = try decoder.container(keyedBy: AnyKey.self)
        for key in all.allKeys where Keys(stringValue: key.stringValue) == nil {
            extras[key.stringValue] = try all.decode(Int.self, forKey: key)
        }
    }

    private struct AnyKey: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

@Suite struct CoderContainerTests {
    private let coder = RoostCoder()

    @Test func superclasses() throws {
        let dog = try coder.decode(Dog.self, from: coder.encode(Dog(name: "Rex", age: 3)))
        #expect(dog.name == "Rex" && dog.age == 3)
        let cat = try coder.decode(Cat.self, from: coder.encode(Cat(name: "Tom", lives: 9)))
        #expect(cat.name == "Tom" && cat.lives == 9)
    }

    @Test func dictionariesJoinTheirObject() throws {
        let event = Event(id: 1, extras: ["x": 2, "007": 3])
        let coded = try coder.decode(Event.self, from: coder.encode(event))
        #expect(coded == event)
        let events = [event, Event(id: 2, extras: [:]), Event(id: 3, extras: ["y": 4])]
        #expect(try coder.decode([Event].self, from: coder.encode(events)) == events)
    }

    /// It failed with "containers of two kinds", where JSON takes it.
    @Test func objectsJoinTheDictionaryThatWasWrittenBefore() throws {
        let place = ["x": 1, "y": 2]
        let events = [
            LateEvent(id: 1, place: place, extras: ["x": 2, "007": 3, "long name": 1 << 40]),
            LateEvent(id: 2, place: ["y": 3], extras: [:]),
            LateEvent(id: 3, place: place, extras: ["y": 4]),
        ]
        for event in events {
            #expect(try coder.decode(LateEvent.self, from: coder.encode(event)) == event)
        }
        #expect(try coder.decode([LateEvent].self, from: coder.encode(events)) == events)
        let within = ["a": events, "b": []]
        #expect(try coder.decode([String: [LateEvent]].self, from: coder.encode(within)) == within)
    }

    /// Keys of this type are texts alone, as those of types that take what they find mostly are.
    private struct Found: Decodable {
        private struct Name: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init?(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        var values: [String: String] = [:]

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Name.self)
            for key in container.allKeys {
                values[key.stringValue] = try container.decode(String.self, forKey: key)
            }
        }
    }

    /// They were found where they were asked for, and were missing from `allKeys`.
    @Test func numbersAreKeysByTheirText() throws {
        let numbers = try coder.encode([-70: "a", 5: "b", 300: "c"])
        let found = try coder.decode(Found.self, from: numbers)
        #expect(found.values == ["-70": "a", "5": "b", "300": "c"])
        let texts = try coder.encode(["007": "a", "x": "b"])
        #expect(try coder.decode(Found.self, from: texts).values == ["007": "a", "x": "b"])
    }

    /// Bytes that could not be read again were handed out.
    @Test func aURLWithoutAnyTextIsRefused() throws {
        let url = try #require(URLComponents().url)
        #expect(throws: RoostError.self) { try coder.encode(url) }
        #expect(throws: RoostError.self) { try coder.encode(["a": [url]]) }
        #expect(throws: RoostError.self) { try BinaryWriter.encode(url) }
        #expect(throws: RoostError.self) { try BinaryWriter.encode([url]) }
    }

    @Test func containersWrittenByTurns() throws {
        let numbers = [1, -2, 300, 4, 5, -600_000, 7]
        try coderRoundTrip(Interleaved(numbers: numbers))
        try coderRoundTrip((0..<100).map { _ in Interleaved(numbers: numbers) })
    }

    @Test func codersHandedOn() throws {
        try coderRoundTrip(Wrapped(5))
        try coderRoundTrip(Wrapped("text"))
        try coderRoundTrip([Wrapped(["a": 1, "b": 2])])
        try coderRoundTrip([Wrapped([1: 1, 2: 2])])
        try coderRoundTrip([Wrapped([UInt8](0..<200))])
        try coderRoundTrip([Wrapped(Data([1, 255]))])
        try coderRoundTrip([Wrapped(Date(timeIntervalSince1970: 1))])
        try coderRoundTrip([Wrapped(Wrapped(UUID()))])
        try coderRoundTrip([Wrapped(Decimal(1.25))])
        try coderRoundTrip([Wrapped(try #require(URL(string: "a:b")))])
        let plain = try coder.encode([Data([1, 255])])
        #expect(try coder.decode([Wrapped<Data>].self, from: plain).first?.value == Data([1, 255]))
        let uuid = UUID()
        #expect(try coder.decode(Wrapped<UUID>.self, from: coder.encode(uuid)).value == uuid)
        let wrapped = try coder.encode(Wrapped(Date(timeIntervalSince1970: 1)))
        #expect(try coder.decode(Date.self, from: wrapped) == Date(timeIntervalSince1970: 1))
        for seconds in [1, 1.5, -3.25, 0x1p60] {
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            let dates = try coder.encode([date])
            #expect(try coder.decode([Wrapped<Date>].self, from: dates).first?.value == date)
            #expect(try coder.decode([Double].self, from: dates) == [seconds])
            try coderRoundTrip([SingleValue(date)])
        }
    }

    @Test func emptyValues() throws {
        struct Empty: Codable, Equatable {}
        struct Silent: Codable, Equatable {
            func encode(to encoder: any Encoder) {}
            init() {}
            init(from decoder: any Decoder) {}
        }
        try coderRoundTrip(Empty())
        try coderRoundTrip(Silent())
        try coderRoundTrip([Empty(), Empty()])
        try coderRoundTrip([String: Int]())
        try coderRoundTrip([[Int]]())
    }

    @Test func userInfoArrives() throws {
        struct Reader: Codable {
            static let key = CodingUserInfoKey(rawValue: "key").unsafelyUnwrapped
            init() {}
            func encode(to encoder: any Encoder) throws {
                #expect(encoder.userInfo[Self.key] as? Int == 7)
                var container = encoder.singleValueContainer()
                try container.encodeNil()
            }
            init(from decoder: any Decoder) throws {
                #expect(decoder.userInfo[Self.key] as? Int == 7)
            }
        }
        let coder = RoostCoder(userInfo: [Reader.key: 7])
        _ = try coder.decode([Reader].self, from: coder.encode([Reader()]))
    }

    @Test func errorsOfTheValueAreTheCause() throws {
        struct Refusal: Error {}
        struct Refuser: Encodable {
            func encode(to encoder: any Encoder) throws { throw Refusal() }
        }
        #expect { try RoostCoder().encode([Refuser()]) } throws: {
            ($0 as? RoostError)?.code == .encodingFailed && ($0 as? RoostError)?.cause is Refusal
        }
        // The next message is not disturbed.
        try coderRoundTrip([Tree.leaf])
    }

    @Test func tooDeepToBeReadIsNotWritten() throws {
        func nested(_ depth: Int) -> Tree {
            (0..<depth).reduce(.leaf) { inner, _ in .many([inner]) }
        }
        try coderRoundTrip(nested(80))
        #expect { try RoostCoder().encode(nested(300)) } throws: {
            ($0 as? RoostError)?.code == .encodingFailed
        }
    }

    /// Writes the key `a` three times: a value, `third` or nothing, and what is between them.
    private struct Repeating: Codable, Equatable {
        enum Keys: String, CodingKey { case a, b, inner }
        var a: Int
        var b: String
        var inner: [Repeating] = []
        var third: Int? = 3

        init(a: Int, b: String, inner: [Repeating] = [], third: Int? = 3) {
            (self.a, self.b, self.inner, self.third) = (a, b, inner, third)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode("not a number", forKey: .a)
            try container.encode(b, forKey: .b)
            try container.encode(a, forKey: .a)
            var list = container.nestedUnkeyedContainer(forKey: .inner)
            try container.encodeIfPresent(third, forKey: .a)
            for element in inner { try list.encode(element) }
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            a = try container.decode(Int.self, forKey: .a)
            b = try container.decode(String.self, forKey: .b)
            inner = try container.decode([Repeating].self, forKey: .inner)
        }
    }

    @Test func ofAKeyThatIsWrittenTwiceTheLastValueCounts() throws {
        for third in [nil, 3] {
            let inner = [
                Repeating(a: 5, b: "x", third: nil), Repeating(a: 6, b: "y", third: third),
            ]
            let bytes = try RoostCoder().encode(
                [Repeating(a: 1, b: "one", inner: inner, third: third), Repeating(a: 2, b: "two")])
            let read = try RoostCoder().decode([Repeating].self, from: bytes)
            #expect(read.map(\.a) == [third ?? 1, 3] && read.map(\.b) == ["one", "two"])
            #expect(read[0].inner.map(\.a) == [5, third ?? 6])
            let single = try RoostCoder().encode(Repeating(a: 1, b: "one", third: third))
            #expect(try RoostCoder().decode(Repeating.self, from: single).a == third ?? 1)
        }
    }
}
