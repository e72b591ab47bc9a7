import Foundation
import Roost
import RoostTestSupport

/// A condition, and the same as a closure that knows nothing of indexes.
struct PairedCondition<Form: SampleForm> {
    var condition: Condition<Sample<Form>>
    var matches: (Sample<Form>) -> Bool
}

extension SeededGenerator {
    mutating func condition<Form>(depth: Int = 3) -> PairedCondition<Form> {
        if depth > 0, !once(in: 3) {
            let left: PairedCondition<Form> = condition(depth: depth - 1)
            if once(in: 5) {
                return PairedCondition(condition: !left.condition, matches: { !left.matches($0) })
            }
            let right: PairedCondition<Form> = condition(depth: depth - 1)
            if once(in: 6) { return listed(left, right, condition(depth: depth - 1)) }
            if once(in: 2) {
                return PairedCondition(
                    condition: left.condition && right.condition,
                    matches: { left.matches($0) && right.matches($0) })
            }
            return PairedCondition(
                condition: left.condition || right.condition,
                matches: { left.matches($0) || right.matches($0) })
        }
        switch below(10) {
        case 0..<3: return textTerm()
        case 3..<6: return otherTerm()
        case 6: return elementCondition(depth: 2)
        case 7: return identifierTerm()
        case 8: return fieldsTerm()
        default: return limitTerm()
        }
    }

    /// Some of several as a list, all or one of which are to hold.
    private mutating func listed<Form>(
        _ parts: PairedCondition<Form>...
    ) -> PairedCondition<Form> {
        let parts = Array(parts.prefix(below(parts.count + 1)))
        return once(in: 2)
            ? PairedCondition(
                condition: .all(of: parts.map(\.condition)),
                matches: { item in parts.allSatisfy { $0.matches(item) } })
            : PairedCondition(
                condition: .any(of: parts.map(\.condition)),
                matches: { item in parts.contains { $0.matches(item) } })
    }

    /// About identifiers, which objects stand in the order of.
    private mutating func identifierTerm<Form>() -> PairedCondition<Form> {
        let (id, other) = (below(450) - 20, below(450) - 20)
        let (least, most) = (min(id, other), max(id, other))
        let list = (0..<below(5)).map { _ in below(400) } + [id]
        switch below(7) {
        case 0: return pair({ $0.id == id }, { $0.id == id })
        case 1: return pair({ $0.id != id }, { $0.id != id })
        case 2: return pair({ $0.id > id }, { $0.id > id })
        case 3: return pair({ $0.id <= id }, { $0.id <= id })
        case 4: return pair({ $0.id.isIn(list) }, { list.contains($0.id) })
        case 5: return pair({ $0.id < least || $0.id > most }, { $0.id < least || $0.id > most })
        default:
            return pair({ (least...most).contains($0.id) }, { (least...most).contains($0.id) })
        }
    }

    /// About two fields of one object, each, one or none of which may have no value.
    private mutating func fieldsTerm<Form>() -> PairedCondition<Form> {
        func ordered<Value>(
            _ one: Value?, _ other: Value?, _ order: (Value, Value) -> Bool
        ) -> Bool {
            one.flatMap { one in other.map { order(one, $0) } } ?? false
        }
        switch below(16) {
        case 0: return pair({ $0.text == $0.owner.name }, { $0.text == $0.owner.name })
        case 1: return pair({ $0.text != $0.note }, { $0.text != $0.note })
        case 2: return pair({ $0.note == $0.text }, { $0.note == $0.text })
        case 3: return pair({ $0.note == $0.owner.city }, { $0.note == $0.owner.city })
        case 4: return pair({ $0.note != $0.maybe.city }, { $0.note != $0.maybe?.city })
        case 5: return pair({ $0.number == $0.id }, { $0.number == $0.id })
        case 6: return pair({ $0.number < $0.id }, { $0.number < $0.id })
        case 7: return pair({ $0.score <= $0.serial }, { $0.score <= $0.serial })
        case 8: return pair({ $0.score == $0.serial }, { $0.score == $0.serial })
        case 9: return pair({ $0.ratio > $0.score }, { ordered($0.ratio, $0.score, >) })
        case 10: return pair({ $0.score >= $0.ratio }, { ordered($0.score, $0.ratio, >=) })
        case 11: return pair({ $0.number < $0.quota }, { ordered($0.number, $0.quota, <) })
        case 12:
            return pair({ $0.owner.city > $0.note }, { ordered($0.owner.city, $0.note, >) })
        case 13:
            return pair({ $0.note <= $0.maybe.name }, { ordered($0.note, $0.maybe?.name, <=) })
        case 14: return pair({ $0.tags.contains($0.text) }, { $0.tags.contains($0.text) })
        default:
            return pair({ !($0.quota >= $0.number) }, { !ordered($0.quota, $0.number, >=) })
        }
    }

    /// About elements alone, so that an index of them may seem to say all.
    private mutating func elementCondition<Form>(depth: Int) -> PairedCondition<Form> {
        if depth == 0 || once(in: 4) { return elementTerm() }
        let left: PairedCondition<Form> = elementCondition(depth: depth - 1)
        let right: PairedCondition<Form> = elementCondition(depth: depth - 1)
        if once(in: 2) {
            return PairedCondition(
                condition: left.condition && right.condition,
                matches: { left.matches($0) && right.matches($0) })
        }
        return PairedCondition(
            condition: left.condition || right.condition,
            matches: { left.matches($0) || right.matches($0) })
    }

    private mutating func elementTerm<Form>() -> PairedCondition<Form> {
        let tag = tag()
        let prefix = String(tag.prefix(below(3)))
        let list = (0..<below(4)).map { _ in self.tag() }
        switch below(8) {
        case 0, 1: return pair({ !$0.tags.contains(tag) }, { !$0.tags.contains(tag) })
        case 2:
            return pair(
                { $0.tags.contains(anyOf: list) },
                { item in list.contains { item.tags.contains($0) } })
        case 3:
            return pair(
                { $0.tags.contains(allOf: list) },
                { item in list.allSatisfy { item.tags.contains($0) } })
        case 4:
            return pair(
                { $0.tags.contains(prefix: prefix) },
                { $0.tags.contains { $0.hasPrefix(prefix) } })
        default: return pair({ $0.tags.contains(tag) }, { $0.tags.contains(tag) })
        }
    }

    /// About numbers that have the highest forms, and what a partial index leaves.
    private mutating func limitTerm<Form>() -> PairedCondition<Form> {
        let (quota, size, tag) = (quota(), size(), tag())
        let serial = Double(below(400))
        switch below(8) {
        case 0: return pair({ $0.quota == quota }, { $0.quota == quota })
        case 1:
            let least = quota ?? .max
            return pair({ $0.quota >= least }, { $0.quota.map { $0 >= least } ?? false })
        case 2:
            let most = quota ?? .min
            return pair({ $0.quota < most }, { $0.quota.map { $0 < most } ?? false })
        case 3: return pair({ $0.size != size }, { $0.size != size })
        case 4:
            let least = size ?? 0
            return pair({ $0.size > least }, { $0.size.map { $0 > least } ?? false })
        case 5: return pair({ $0.serial < serial }, { $0.serial < serial })
        case 6:
            return pair(
                { !$0.isDone && $0.number > 2 && !$0.tags.contains(tag) },
                { !$0.isDone && $0.number > 2 && !$0.tags.contains(tag) })
        default:
            return pair(
                { $0.number > 2 && $0.tags.contains(tag) },
                { $0.number > 2 && $0.tags.contains(tag) })
        }
    }

    private func pair<Made: ConditionConvertible, Form>(
        _ condition: (Row<Sample<Form>>) -> Made, _ matches: @escaping (Sample<Form>) -> Bool
    ) -> PairedCondition<Form> where Made.Root == Sample<Form> {
        // A row is made by a query only.
        PairedCondition(condition: Condition.make(condition), matches: matches)
    }

    private mutating func textTerm<Form>() -> PairedCondition<Form> {
        let (text, other) = (text(), text())
        let list = (0..<below(4)).map { _ in self.text() }
        let prefix = String(text.prefix(below(3)))
        switch below(17) {
        case 0: return pair({ $0.text == text }, { $0.text == text })
        case 1: return pair({ $0.text != text }, { $0.text != text })
        case 2: return pair({ $0.text < text }, { $0.text < text })
        case 3: return pair({ $0.text >= text }, { $0.text >= text })
        case 4: return pair({ $0.text.isIn(list) }, { list.contains($0.text) })
        case 5: return pair({ $0.text.hasPrefix(prefix) }, { $0.text.hasPrefix(prefix) })
        case 6: return pair({ $0.text.contains(prefix) }, { $0.text.contains(prefix) })
        case 7: return pair({ $0.text.hasSuffix(prefix) }, { $0.text.hasSuffix(prefix) })
        case 8: return pair({ $0.note == nil }, { $0.note == nil })
        case 9: return pair({ $0.note == text }, { $0.note == text })
        case 10: return pair({ $0.note > text }, { $0.note.map { $0 > text } ?? false })
        case 11: return pair({ $0.tags.contains(text) }, { $0.tags.contains(text) })
        case 12:
            return pair(
                { $0.tags.contains(text) && $0.tags.contains(other) },
                { $0.tags.contains(text) && $0.tags.contains(other) })
        case 13: return pair({ $0.owner.name <= text }, { $0.owner.name <= text })
        case 14: return pair({ $0.owner.city != text }, { $0.owner.city != text })
        case 15: return pair({ $0.maybe.name == text }, { $0.maybe?.name == text })
        default: return pair({ $0.maybe.city == nil }, { $0.maybe?.city == nil })
        }
    }

    private mutating func otherTerm<Form>() -> PairedCondition<Form> {
        let (number, other, score, date) = (number(), number(), score(), date())
        let color = pick(SampleColor.allCases)
        let (low, high) = (min(number, other), max(number, other))
        switch below(16) {
        case 0: return pair({ $0.number == number }, { $0.number == number })
        case 1: return pair({ $0.number < number }, { $0.number < number })
        case 2: return pair({ $0.number > number }, { $0.number > number })
        case 3:
            return pair({ (low...high).contains($0.number) }, { (low...high).contains($0.number) })
        case 4:
            return pair(
                { $0.number.isIn([number, other, 3]) }, { [number, other, 3].contains($0.number) })
        case 5: return pair({ $0.score < score }, { $0.score < score })
        case 6: return pair({ $0.score == score }, { $0.score == score })
        case 7: return pair({ $0.score >= score }, { $0.score >= score })
        case 8: return pair({ $0.ratio == score }, { $0.ratio == score })
        case 9: return pair({ $0.ratio <= score }, { $0.ratio.map { $0 <= score } ?? false })
        case 10: return pair({ $0.color == color }, { $0.color == color })
        case 11:
            return pair({ $0.color.isIn([.red, color]) }, { [.red, color].contains($0.color) })
        case 12: return pair({ $0.isDone }, { $0.isDone })
        case 13: return pair({ !$0.isDone }, { !$0.isDone })
        case 14: return pair({ $0.date < date }, { $0.date.map { $0 < date } ?? false })
        default: return pair({ $0.satisfies { $0.text.count > 3 } }, { $0.text.count > 3 })
        }
    }
}
