import Testing

/// The checker itself, on histories made by hand: each with one thing in it that must not be.
@Suite struct CheckerTests {
    private func call(
        _ id: Int, _ times: ClosedRange<Int>, reads: [String: RecordedCall.Observed] = [:],
        writes: [String] = [], removes: [String] = [], sequence: UInt64? = nil
    ) -> RecordedCall {
        var call = RecordedCall(id: id, name: "call", invoked: times.lowerBound)
        call.returned = times.upperBound
        call.outcome = .committed
        call.reads = reads
        for key in writes { call.writes[key] = true }
        for key in removes { call.writes[key] = false }
        call.sequence = sequence
        return call
    }

    private func isSound(_ calls: [RecordedCall]) -> Bool {
        HistoryChecker.violation(in: calls) == nil
    }

    @Test func aSoundHistoryPasses() {
        let calls = [
            call(1, 1...2, writes: ["x", "y"], sequence: 1),
            call(2, 3...8, reads: ["x": .written(by: 1)], writes: ["x"], sequence: 2),
            // Overlaps both, and may come between them.
            call(3, 2...9, reads: ["x": .written(by: 1), "y": .written(by: 1)]),
            call(4, 10...11, reads: ["x": .written(by: 2)], removes: ["y"], sequence: 3),
            call(5, 12...13, reads: ["y": .absent]),
        ]
        #expect(isSound(calls))
    }

    @Test func aStaleReadIsFound() {
        let writes = [
            call(1, 1...2, writes: ["x"], sequence: 1), call(2, 3...4, writes: ["x"], sequence: 2),
        ]
        #expect(!isSound(writes + [call(3, 5...6, reads: ["x": .written(by: 1)])]))
        #expect(isSound(writes + [call(3, 2...6, reads: ["x": .written(by: 1)])]))
        #expect(!isSound(writes + [call(3, 5...6, reads: ["x": .absent])]))
    }

    @Test func aLostUpdateIsFound() {
        let first = call(1, 1...2, writes: ["x"], sequence: 1)
        let one = call(2, 3...9, reads: ["x": .written(by: 1)], writes: ["x"], sequence: 2)
        let other = call(3, 3...9, reads: ["x": .written(by: 1)], writes: ["x"], sequence: 3)
        #expect(isSound([first, one]))
        #expect(!isSound([first, one, other]))
    }

    @Test func aHalfSeenBatchIsFound() {
        let calls = [
            call(1, 1...2, writes: ["x", "y"], sequence: 1),
            call(2, 3...9, writes: ["x", "y"], sequence: 2),
        ]
        let torn = call(3, 4...8, reads: ["x": .written(by: 2), "y": .written(by: 1)])
        #expect(!isSound(calls + [torn]))
    }

    @Test func aPhantomAndAWriteSkewAreFound() {
        // Each saw that the other's key was absent, and both committed.
        let calls = [
            call(1, 1...9, reads: ["x": .absent, "y": .absent], writes: ["x"], sequence: 1),
            call(2, 1...9, reads: ["x": .absent, "y": .absent], writes: ["y"], sequence: 2),
        ]
        #expect(isSound([calls[0]]))
        #expect(!isSound(calls))
    }

    @Test func whatNobodyWroteOrWasRefusedIsFound() {
        #expect(!isSound([call(1, 1...2, reads: ["x": .written(by: 7)])]))
        var refused = call(7, 1...2, writes: ["x"])
        refused.outcome = .refused
        #expect(!isSound([refused, call(1, 1...2, reads: ["x": .written(by: 7)])]))
        refused.outcome = .unknown
        refused.returned = .max
        #expect(isSound([refused, call(1, 3...4, reads: ["x": .written(by: 7)])]))
    }
}
