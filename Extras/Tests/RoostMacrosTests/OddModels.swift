import Foundation
import RoostMacros

// Models as clients write them, which are compiled here and read back in OddModelsTests.

/// Words of the language, and the names that the written code uses itself, as names.
@BinaryCodable struct Keywords: Equatable {
    @Field(1) var `default`: Int
    @Field(2) var `class`: String?
    @Field(3) var `self`: Bool
    @Field(4) var writer: Int
    @Field(5) var reader: [Int] = []
    @Field(6) var number = 3
}

@BinaryCodable enum Words: Equatable {
    @Field(1) case `default`
    @Field(2) case `in`(`for`: Int, reader: String)
    @Field(3) case unlabelled(Int, _ writer: Int? = 4)
}

/// Values that stand for the types.
@BinaryCodable struct Inferred: Equatable {
    @Field(1) var count = 0
    @Field(2) var ratio = -0.5
    @Field(3) var name = "none"
    @Field(4) var isOn = true
}

/// A type with a raw value is written by its fields, not by that value.
@BinaryCodable struct Label: RawRepresentable, Hashable {
    @Field(1) var rawValue: String
}

/// A type that clients may inline code of, and one that is not there on every system.
@usableFromInline @BinaryCodable struct Inlined: Equatable {
    @Field(1) var count: Int
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, *)
@BinaryCodable struct Recent: Equatable {
    @Field(1) var count: Int
}

@BinaryCodable enum Level: Int, CaseIterable {
    @Field(2) case low = 1
    @Field(1) case high = 2
}

@BinaryCodable struct RawValues: Equatable {
    @Field(1) var label: Label
    @Field(2) var level: Level = .low
    @Field(3) var labels: Set<Label> = []
    @Field(4) var levels: [Level: Label] = [:]
    @Field(5) var last: Int
}

@BinaryCodable struct Page<Item: BinaryCodable & Equatable & Sendable>: Equatable {
    @Field(1) var items: [Item]
    @Field(2) var next: Item?
}

@BinaryCodable enum Either<Left, Right>: Equatable, Sendable
where Left: BinaryCodable & Equatable & Sendable, Right: BinaryCodable & Equatable & Sendable {
    @Field(1) case left(Left)
    @Field(2) case right(Right)
}

@propertyWrapper struct Clamped: Equatable {
    private var value: Int
    var wrappedValue: Int {
        get { value }
        set { value = min(max(newValue, 0), 10) }
    }
    init(wrappedValue: Int) {
        value = 0
        self.wrappedValue = wrappedValue
    }
}

/// What is not stored, beside what is.
@BinaryCodable struct Surroundings: Equatable {
    static let limit = 7
    nonisolated(unsafe) static var made = 0
    @Field(1) @Clamped var level: Int
    @Field(2) var limit: Int = Self.limit
    @Field(3) private(set) var observed: Int = 1 { didSet { Self.made += 1 } }
    @Field(4) let constant: String
    lazy var text = "\(level)"
    var twice: Int { level * 2 }
    var third: Int {
        get { limit / 3 }
        set { limit = newValue * 3 }
    }
    init(level: Int, constant: String) {
        self.level = level
        self.constant = constant
    }
    static func == (one: Self, other: Self) -> Bool {
        one.level == other.level && one.limit == other.limit && one.constant == other.constant
    }
}

public enum Outer {
    @BinaryCodable public struct Open: Equatable, Sendable {
        @Field(1) public var inner: Inner
        @BinaryCodable public enum Inner: Equatable, Sendable { @Field(1) case one }
    }
    @BinaryCodable fileprivate struct Hidden: Equatable { @Field(1) var value: Int? }

    static func hiddenBytes() throws -> [UInt8] { try BinaryWriter.encode(Hidden(value: 3)) }
}

// Their visibility stands at the extension.
// swift-format-ignore: NoAccessLevelOnExtensionDeclaration
public extension Outer {
    @BinaryCodable struct FromExtension: Equatable, Sendable { @Field(1) var value: Int }
    @BinaryCodable internal struct Inside: Equatable, Sendable { @Field(1) var value: Int }
}

extension Outer {
    @BinaryCodable package struct Packaged: Equatable { @Field(1) var value: Int }
    @BinaryCodable fileprivate struct InFile: Equatable { @Field(1) var value: Int }
}

/// The conformance is stated already.
@BinaryCodable struct Stated: BinaryCodable, Equatable { @Field(1) var value: Int }
protocol Model: BinaryCodable, Sendable {}
@BinaryCodable struct ByProtocol: Model, Equatable { @Field(1) var value: Int }

@BinaryCodable struct Empty: Equatable {}
@BinaryCodable enum Nothing {}

/// Optionals of every depth and spelling.
@BinaryCodable struct Optionals: Equatable {
    @Field(1) var double: Int??
    @Field(2) var list: [Int?]?
    @Field(3) var spelled: Int? = 4
    @Field(4) var qualified: Swift.Optional<String> = "x"
    @Field(5) var wrapped: (Int?) = nil
    @Field(6) var stated: Int? = nil
}

typealias Deadline = Date?
typealias Remark = String?

/// Optionals whose types do not say so, with defaults that are values.
@BinaryCodable struct NamedOptionals: Equatable {
    @Field(1) var due: Deadline = .distantFuture
    @Field(2) var remark: Remark = "none"
    @Field(3) var start: Deadline = nil
}

@BinaryCodable enum NamedOptional: Equatable {
    @Field(1) case one(Deadline = .distantFuture, remark: Remark = "none")
}

/// What comes from Foundation.
@BinaryCodable struct FromFoundation: Equatable {
    @Field(1) var data: Data
    @Field(2) var date: Date = .distantPast
    @Field(3) var url: URL?
    @Field(4) var uuid: UUID
    @Field(5) var price: Decimal
    @Field(6) var prices: [Decimal: Set<Decimal>] = [:]
}
