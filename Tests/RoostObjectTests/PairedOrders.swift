import Foundation
import Roost
import RoostTestSupport

/// An order, and the same as a comparison.
struct PairedOrder<Form: SampleForm> {
    var apply: (Query<Sample<Form>>) -> Query<Sample<Form>>
    /// Negative where the first comes first.
    var compare: (Sample<Form>, Sample<Form>) -> Int
}

extension SeededGenerator {
    mutating func order<Form>() -> PairedOrder<Form> {
        let isDescending = once(in: 2)
        // An order may be named by a call, or be a value.
        let isField = once(in: 2)
        func made<Value: IndexRepresentable>(
            _ path: KeyPath<Sample<Form>, Value> & Sendable,
            _ compare: @escaping (Value, Value) -> Int
        ) -> PairedOrder<Form> {
            PairedOrder(
                apply: {
                    isField
                        ? $0.order(by: [isDescending ? .descending(path) : .ascending(path)])
                        : $0.order(by: path, isDescending ? .descending : .ascending)
                },
                compare: { left, right in
                    let order = compare(left[keyPath: path], right[keyPath: path])
                    return isDescending ? -order : order
                })
        }
        switch below(12) {
        case 10: return made(\.id, compared)
        case 8: return made(\.quota) { optional($0, $1, compared) }
        case 9: return made(\.size) { optional($0, $1, compared) }
        case 0: return made(\.number, compared)
        case 1: return made(\.text, compared)
        case 2: return made(\.note) { optional($0, $1, compared) }
        case 3: return made(\.score, comparedFloats)
        case 4: return made(\.ratio) { optional($0, $1, comparedFloats) }
        case 5: return made(\.color) { compared($0.rawValue, $1.rawValue) }
        case 6: return made(\.isDone) { ($0 ? 1 : 0) - ($1 ? 1 : 0) }
        case 7: return made(\.owner.city) { optional($0, $1, compared) }
        default: return made(\.date) { optional($0, $1, compared) }
        }
    }
}

private func compared<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
    left < right ? -1 : (right < left ? 1 : 0)
}

private func comparedFloats(_ left: Double, _ right: Double) -> Int {
    if left.isNaN || right.isNaN { return (left.isNaN ? 1 : 0) - (right.isNaN ? 1 : 0) }
    return compared(left, right)
}

private func optional<Value>(
    _ left: Value?, _ right: Value?, _ compare: (Value, Value) -> Int
) -> Int {
    guard let left, let right else { return (left == nil ? 0 : 1) - (right == nil ? 0 : 1) }
    return compare(left, right)
}
