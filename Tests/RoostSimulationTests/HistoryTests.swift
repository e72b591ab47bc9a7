import Testing

@testable import RoostSimulator

/// What the oracle takes for right.
@Suite("Oracle")
struct HistoryTests {
    /// Seeds 88636 and 110802. A value was enqueued and a later sync brought it to disk, which its
    /// caller heard. A flipped bit in its frame, the first of three with no later word on disk
    /// that they had been synced, made a torn tail of all three: declared, and so no failure, but
    /// the oracle held on to the batch whose number it had never heard.
    @Test func aDeclaredTornEndMayTakeWhatWasOnDisk() {
        var history = History()
        history.enqueue(.put(dictionary: "a", key: "k", value: [1]), lastSequence: 0)
        history.noteOnDisk([1])
        var torn = history
        #expect(torn.keep(0, showing: [:], isDamaged: true) == nil)
        #expect(history.keep(0, showing: [:]) == "an acknowledged batch is not there")
    }
}
