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
        _ = history.enqueue(.put(dictionary: "a", key: "k", value: [1]), lastSequence: 0)
        history.noteOnDisk([1])
        var torn = history
        #expect(torn.keep(0, showing: [:], isDamaged: true) == nil)
        #expect(history.keep(0, showing: [:]) == "an acknowledged batch is not there")
    }

    /// Seed 355675. Two writes were under way at a kill, the one that waited for a sync first, and
    /// neither was heard of. An opening found both and could not tell their order: only the first of
    /// the two was surely on disk. The oracle took the order that it had tried first for the right
    /// one at the opening after that, and missed the second write after a power cut.
    @Test func theOrderThatWasGuessedAtOneOpeningIsNotCertainAtTheNext() throws {
        var history = History()
        let awaited = history.begin(
            .init(changes: [.put(dictionary: "a", key: "x", value: [1])], isAwaited: true),
            lastSequence: 0)
        let other = history.begin(
            .init(changes: [.put(dictionary: "a", key: "y", value: [2])], isAwaited: false),
            lastSequence: 0)
        history.end(other, isAcknowledged: false, lastSequence: 1)
        history.end(awaited, isAcknowledged: false, lastSequence: 1)
        let both: History.Content = ["a": ["x": [1], "y": [2]]]
        #expect(history.keep(2, showing: both) == nil)
        #expect(history.durableCount == 1)
        #expect(history.keep(2, showing: both) == nil)
        #expect(history.durableCount == 1)
        #expect(history.keep(1, showing: ["a": ["x": [1]]]) == nil)
        #expect(history.durableCount == 1)
    }

    /// Seed 17046876. Two calls wrote the same key, neither was heard of, and only one of them had
    /// come into the log; a third batch wrote the key again. An opening found both batches and took
    /// the first call for the first one's. Damage then took the third, and showed the other call's.
    @Test func whatALaterBatchHidIsOpenAgainWhenThatIsCutOff() throws {
        var history = History()
        for value in 1...2 as ClosedRange<UInt8> {
            _ = history.enqueue(.put(dictionary: "a", key: "k", value: [value]), lastSequence: 0)
        }
        let last = history.begin(
            .init(changes: [.put(dictionary: "a", key: "k", value: [3])], isAwaited: false),
            lastSequence: 1)
        try history.place(last, at: 2)
        #expect(history.keep(2, showing: ["a": ["k": [3]]]) == nil)
        #expect(history.keep(1, showing: ["a": ["k": [2]]]) == nil)
    }
}
