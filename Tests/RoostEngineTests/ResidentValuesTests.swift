import RoostTestSupport
import Synchronization
import Testing

@testable import RoostEngine

private final class Box: Resident, @unchecked Sendable {
    let number: Int

    init(_ number: Int) {
        self.number = number
        super.init(type: ObjectIdentifier(Int.self))
    }
}

private final class Living: Sendable {
    let count = Atomic(0)
}

/// Counts those that live.
private final class CountedBox: Resident, @unchecked Sendable {
    private let living: Living

    init(_ living: Living) {
        self.living = living
        living.count.wrappingAdd(1, ordering: .relaxed)
        super.init(type: ObjectIdentifier(Int.self))
    }

    deinit { living.count.wrappingSubtract(1, ordering: .relaxed) }
}

@Suite struct ResidentValuesTests {
    private func find(_ residents: inout ResidentValues, _ key: UInt64) -> Int? {
        (residents.find(key &* 0x9e37_79b9_7f4a_7c15, fingerprint: { key }) as? Box)?.number
    }

    private func insert(
        _ residents: inout ResidentValues, _ key: UInt64, _ number: Int, cost: Int = 4
    ) {
        let hash = key &* 0x9e37_79b9_7f4a_7c15
        guard residents.admits(hash, costBytes: cost) else { return }
        residents.insert(Box(number), hash: hash, fingerprint: key, costBytes: cost)
    }

    @Test(arguments: [1_000, 10_000, 200_000])
    func whatIsFoundIsWhatWasInsertedLastAndTheBudgetIsKept(budgetBytes: Int) {
        var random = SeededGenerator(seed: testSeed())
        var residents = ResidentValues(budgetBytes: budgetBytes)
        var model: [UInt64: Int] = [:]
        var hits = 0
        for step in 0..<60_000 {
            let key = UInt64(random.below(random.once(in: 2) ? 30 : 3_000))
            switch random.below(10) {
            case 0..<4:
                insert(&residents, key, step, cost: random.below(400))
                model[key] = step
            case 4:
                residents.remove(key &* 0x9e37_79b9_7f4a_7c15)
                model[key] = nil
            case 5 where random.once(in: 500):
                residents.removeAll()
                model = [:]
            default:
                if let found = find(&residents, key) {
                    hits += 1
                    // A value too large to be kept must not leave an older one after, unless
                    // nobody inserted over it.
                    #expect(model[key].map { found <= $0 } ?? false)
                }
            }
            #expect(residents.sizeBytes <= budgetBytes && residents.sizeBytes >= 0)
            #expect(residents.count * ResidentValues.overheadBytes <= residents.sizeBytes)
        }
        #expect(hits > 0)
    }

    @Test func aScanEvictsNothingThatIsInUse() {
        var residents = ResidentValues(budgetBytes: 100_000)
        for key in 0..<200 { insert(&residents, UInt64(key), key) }
        for _ in 0..<3 { for key in 0..<200 { _ = find(&residents, UInt64(key)) } }
        for key in 1_000..<21_000 { insert(&residents, UInt64(key), key) }
        let kept = (0..<200).count { find(&residents, UInt64($0)) == $0 }
        #expect(kept > 190, "\(kept) of 200")
    }

    @Test func aValueThatIsReadAgainEntersThoughTheBudgetIsSpent() {
        var residents = ResidentValues(budgetBytes: 100_000)
        for key in 0..<2_000 { insert(&residents, UInt64(key), key) }
        #expect(find(&residents, 1_999) == nil, "read once")
        insert(&residents, 1_999, 1_999)
        #expect(find(&residents, 1_999) == 1_999, "read twice")
    }

    @Test func aValueLargerThanAQuarterOfTheBudgetIsNotKept() {
        var residents = ResidentValues(budgetBytes: 1_000)
        insert(&residents, 1, 1, cost: 200)
        #expect(find(&residents, 1) == nil)
        insert(&residents, 2, 2, cost: 100)
        #expect(find(&residents, 2) == 2)
        var none = ResidentValues(budgetBytes: 0)
        insert(&none, 1, 1, cost: 0)
        #expect(none.count == 0)
    }

    @Test func keysOfOneHashAreToldApart() {
        var residents = ResidentValues(budgetBytes: 10_000)
        residents.insert(Box(1), hash: 7, fingerprint: 1, costBytes: 4)
        #expect(residents.find(7, fingerprint: { 2 }) == nil)
        residents.insert(Box(2), hash: 7, fingerprint: 2, costBytes: 4)
        #expect(residents.find(7, fingerprint: { 1 }) == nil)
        #expect((residents.find(7, fingerprint: { 2 }) as? Box)?.number == 2)
        #expect(residents.count == 1)
    }

    @Test func manyRemovalsLeaveNoMemoryBehind() {
        var residents = ResidentValues(budgetBytes: 1 << 20)
        for round in 0..<50_000 {
            insert(&residents, UInt64(round % 3), round)
            residents.remove(UInt64(round % 3) &* 0x9e37_79b9_7f4a_7c15)
        }
        #expect(residents.count == 0)
        #expect(residents.sizeBytes == 0)
    }

    @Test func aTableOfManyBucketsFindsAllAndLetsGoWhatIsRemoved() {
        var random = SeededGenerator(seed: testSeed())
        let hashes = (0..<60_000).map { _ in UInt64.random(in: 1 ... .max, using: &random) }
        let living = Living()
        do {
            var residents = ResidentValues(budgetBytes: 1 << 30)
            for hash in hashes {
                residents.insert(CountedBox(living), hash: hash, fingerprint: hash, costBytes: 4)
            }
            #expect(residents.count == 60_000)
            for hash in hashes.prefix(40_000) { residents.remove(hash) }
            let found = hashes.map { hash in residents.find(hash, fingerprint: { hash }) != nil }
            #expect(
                !found.prefix(40_000).contains(true) && !found.dropFirst(40_000).contains(false))
            #expect(living.count.load(ordering: .relaxed) == 20_000)
            // Displaced by the same keys once more.
            for hash in hashes.suffix(10_000) {
                residents.insert(CountedBox(living), hash: hash, fingerprint: hash, costBytes: 4)
            }
            #expect(living.count.load(ordering: .relaxed) == 20_000)
        }
        #expect(living.count.load(ordering: .relaxed) == 0)
    }
}
