import Testing

@testable import RoostEngine

@Suite struct KeyRangesTests {
    /// The product of a long file's size and its groups ended the process at the merge.
    @Test func thePartOfAFileIsCountedHoweverLongItIs() {
        #expect(KeyRanges.share(of: 1000, from: 0, of: 10) == 1000)
        #expect(KeyRanges.share(of: 1000, from: 3, of: 10) == 700)
        #expect(KeyRanges.share(of: 1000, from: 10, of: 10) == 0)
        #expect(KeyRanges.share(of: 1000, from: 11, of: 10) == 0)
        #expect(KeyRanges.share(of: 1 << 40, from: 1 << 31, of: 1 << 32) == 1 << 39)
        #expect(KeyRanges.share(of: .max, from: 0, of: .max) == .max)
    }
}
