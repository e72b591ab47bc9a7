import Foundation

/// A number of which a query makes averages: the integers, `Double`, `Float`, `CGFloat` and `Decimal`, and types of your
/// own that say how.
///
/// ```swift
/// struct Euro: Codable, Averageable {
///     var cents: Int
///     static var emptySum: Int.AverageSum { Int.emptySum }
///     static func add(_ price: Euro, to sum: inout Int.AverageSum) { Int.add(price.cents, to: &sum) }
///     static func average(of sum: Int.AverageSum, count: Int) -> Double { Int.average(of: sum, count: count) / 100 }
/// }
/// ```
public protocol Averageable {
    /// What an average is: `Double` of the integers and of floating point, `Decimal` of `Decimal`.
    associatedtype Average
    /// What values are added up in.
    associatedtype AverageSum

    /// The sum of no values.
    static var emptySum: AverageSum { get }
    /// Adds a value. It must not trap, whatever was stored.
    static func add(_ value: Self, to sum: inout AverageSum)
    /// The average of so many values, which are at least one.
    static func average(of sum: AverageSum, count: Int) -> Average
}

/// The exact sum of any number of integers of up to 128 bits.
public struct IntegerSum: Sendable {
    /// What is left without the overflows: the order of the values does not matter.
    private var low: Int128 = 0
    /// How often `low` went over its greatest value, or below its least.
    private var overflowCount = 0

    fileprivate init() {}

    fileprivate mutating func add(_ value: Int128) {
        let (sum, hasOverflown) = low.addingReportingOverflow(value)
        low = sum
        if hasOverflown { overflowCount += value < 0 ? -1 : 1 }
    }

    fileprivate mutating func add(_ value: UInt128) {
        add(Int128(truncatingIfNeeded: value))
        if value >> 127 == 1 { overflowCount += 1 }
    }

    /// Rounded to `Double` once, where `low` has not overflown, and so has the quotient.
    fileprivate func average(count: Int) -> Double {
        var sum = Double(low)
        if overflowCount != 0 { sum += Double(overflowCount) * 0x1p128 }
        return sum / Double(count)
    }
}

extension Averageable where Self: FixedWidthInteger, AverageSum == IntegerSum, Average == Double {
    /// Zero.
    public static var emptySum: IntegerSum { IntegerSum() }
    /// Adds a value exactly, however many there are.
    public static func add(_ value: Self, to sum: inout IntegerSum) { sum.add(Int128(value)) }
    /// The exact sum, rounded to `Double`, divided by `count`.
    public static func average(of sum: IntegerSum, count: Int) -> Double {
        sum.average(count: count)
    }
}

extension Int: Averageable {
    public typealias Average = Double
    public typealias AverageSum = IntegerSum
}
extension Int8: Averageable {
    public typealias Average = Double
    public typealias AverageSum = IntegerSum
}
extension Int16: Averageable {
    public typealias Average = Double
    public typealias AverageSum = IntegerSum
}
extension Int32: Averageable {
    public typealias Average = Double
    public typealias AverageSum = IntegerSum
}
extension Int64: Averageable {
    public typealias Average = Double
    public typealias AverageSum = IntegerSum
}
extension Int128: Averageable {
    public typealias Average = Double
    public typealias AverageSum = IntegerSum
}
extension UInt: Averageable {
    public typealias Average = Double
    public typealias AverageSum = IntegerSum
}
extension UInt8: Averageable {
    public typealias Average = Double
    public typealias AverageSum = IntegerSum
}
extension UInt16: Averageable {
    public typealias Average = Double
    public typealias AverageSum = IntegerSum
}
extension UInt32: Averageable {
    public typealias Average = Double
    public typealias AverageSum = IntegerSum
}
extension UInt64: Averageable {
    public typealias Average = Double
    public typealias AverageSum = IntegerSum
}
extension UInt128: Averageable {
    public typealias Average = Double
    public typealias AverageSum = IntegerSum
    /// Adds a value exactly, however many there are.
    public static func add(_ value: UInt128, to sum: inout IntegerSum) { sum.add(value) }
}

extension Averageable where Self: BinaryFloatingPoint, AverageSum == Double, Average == Double {
    /// Zero.
    public static var emptySum: Double { 0 }
    /// Adds a value, rounded as `+` of `Double` rounds.
    public static func add(_ value: Self, to sum: inout Double) { sum += Double(value) }
    /// The sum divided by `count`.
    public static func average(of sum: Double, count: Int) -> Double { sum / Double(count) }
}

extension Double: Averageable {
    public typealias Average = Double
    public typealias AverageSum = Double
}
extension Float: Averageable {
    public typealias Average = Double
    public typealias AverageSum = Double
}
extension CGFloat: Averageable {
    public typealias Average = Double
    public typealias AverageSum = Double
}

extension Decimal: Averageable {
    /// Zero.
    public static var emptySum: Decimal { 0 }
    /// Adds a value, rounded as `+` of `Decimal` rounds.
    public static func add(_ value: Decimal, to sum: inout Decimal) { sum += value }
    /// The sum divided by `count`.
    public static func average(of sum: Decimal, count: Int) -> Decimal { sum / Decimal(count) }
}

/// An average while values come.
package struct AverageOfValues<Value: Averageable> {
    private var sum = Value.emptySum
    private var count = 0

    package init() {}

    package mutating func add(_ value: Value) {
        Value.add(value, to: &sum)
        count += 1
    }

    package var average: Value.Average? { count == 0 ? nil : Value.average(of: sum, count: count) }
}
