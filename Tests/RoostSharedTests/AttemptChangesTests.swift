import RoostTestSupport
import Testing

@testable import RoostShared

/// Changes of a transaction's body, beside those of a dictionary in memory.
@Suite struct AttemptChangesTests {
    /// Keys of three letters, so that prefixes are in each other.
    private static func anyKey(_ random: inout SeededGenerator) -> [UInt8] {
        (0..<3).map { _ in UInt8.random(in: 97...99, using: &random) }
    }

    private static func anyPrefix(_ random: inout SeededGenerator) -> SharedKeyRange {
        let prefix = Array(anyKey(&random).prefix(Int.random(in: 0...3, using: &random)))
        guard let last = prefix.last else { return SharedKeyRange(lower: [], upper: [255]) }
        return SharedKeyRange(lower: prefix, upper: prefix.dropLast() + [last + 1])
    }

    private static func change(
        _ changes: inout AttemptChanges, _ model: inout [[UInt8]: UInt8],
        _ random: inout SeededGenerator
    ) {
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            let range = anyPrefix(&random)
            changes.clear(range)
            model = model.filter { !range.contains($0.key) }
        case 1:
            let key = anyKey(&random)
            changes.set(.init(value: nil), forKey: key)
            model[key] = nil
        default:
            let (key, value) = (anyKey(&random), UInt8.random(in: 0...255, using: &random))
            changes.set(.init(value: [value]), forKey: key)
            model[key] = value
        }
    }

    /// What the engine has after the operations, which may come in any order.
    private static func applied(
        _ operations: [SharedOperation], to before: [[UInt8]: UInt8]
    ) -> [[UInt8]: UInt8] {
        var after = before
        for operation in operations {
            switch operation {
            case .put(let key, let value, _): after[key] = value[0]
            case .remove(let key): after[key] = nil
            case .removeRange(let range): after = after.filter { !range.contains($0.key) }
            }
        }
        return after
    }

    private static func range(of operation: SharedOperation) -> SharedKeyRange {
        switch operation {
        case .put(let key, _, _), .remove(let key): SharedKeyRange(key)
        case .removeRange(let range): range
        }
    }

    @Test func operationsMakeWhatTheChangesMadeAndMeetNowhere() {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        for round in 0..<400 {
            var before: [[UInt8]: UInt8] = [:]
            for _ in 0..<12 { before[Self.anyKey(&random)] = 0 }
            var (changes, model) = (AttemptChanges(), before)
            for _ in 0..<Int.random(in: 0..<8, using: &random) {
                Self.change(&changes, &model, &random)
            }
            if Bool.random(using: &random) {
                // A call that fails after a part of its changes.
                let kept = model
                let isFirst = changes.beginAsOne()
                #expect(isFirst)
                for _ in 0..<5 { Self.change(&changes, &model, &random) }
                _ = changes.takeBack()
                changes.endAsOne()
                model = kept
            }
            for key in before.keys where changes.writes[key] == nil {
                #expect(changes.isCleared(key) == (model[key] == nil), "seed \(seed), \(round)")
            }
            let operations = changes.operations.shuffled(using: &random)
            #expect(Self.applied(operations, to: before) == model, "seed \(seed), \(round)")
            let ranges = operations.map(Self.range(of:)).sorted {
                $0.lower.lexicographicallyPrecedes($1.lower)
            }
            for (range, next) in zip(ranges, ranges.dropFirst()) {
                #expect(
                    !next.lower.lexicographicallyPrecedes(range.upper), "seed \(seed), \(round)")
            }
        }
    }
}
