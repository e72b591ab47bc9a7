import Foundation

/// SplitMix64: the same numbers again from the same seed.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    package mutating func bytes(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { bytes, initializedCount in
            while initializedCount < count {
                withUnsafeBytes(of: next()) { word in
                    let some = word.prefix(count - initializedCount)
                    UnsafeMutableRawBufferPointer(
                        rebasing: UnsafeMutableRawBufferPointer(bytes)[initializedCount...]
                    )
                    .copyBytes(from: some)
                    initializedCount += some.count
                }
            }
        }
    }

    package mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

    /// True once in `count` times.
    package mutating func once(in count: Int) -> Bool { below(count) == 0 }
}

/// The seed of a random test, printed so that a failure can be run again: from the environment
/// variable `ROOST_TEST_SEED` where that is set, else chosen anew.
package func testSeed(_ test: String = #function) -> UInt64 {
    let seed =
        ProcessInfo.processInfo.environment["ROOST_TEST_SEED"].flatMap { UInt64($0) }
        ?? .random(in: 0 ... .max)
    print("\(test): ROOST_TEST_SEED=\(seed)")
    return seed
}

/// How often a test with random input runs: `part` in `make test`, which is to end soon, and `whole` where
/// `ROOST_WHOLE_RUNS` is set, as `make prove` does.
package func runCount(_ part: Int, whole: Int) -> Int {
    ProcessInfo.processInfo.environment["ROOST_WHOLE_RUNS"] == nil ? part : whole
}
