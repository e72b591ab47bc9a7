import RoostConformance
import Testing

/// The checkers of histories, on histories that are known to be sound or not.
@Suite struct CheckerTests {
    private let begin = ContinuousClock.now

    private func time(_ milliseconds: Int) -> ContinuousClock.Instant {
        begin + .milliseconds(milliseconds)
    }

    private func call(
        _ id: Int, _ invoked: Int, _ returned: Int?, reads: [String: [Int]] = [:],
        appends: [String: Int] = [:], _ outcome: ListCall.Outcome = .committed
    ) -> ListCall {
        var call = ListCall(id: id, invoked: time(invoked))
        call.returned = returned.map(time)
        call.reads = reads
        call.appends = appends
        call.outcome = outcome
        return call
    }

    @Test func listsThatOneOrderExplainsAreSound() {
        let calls = [
            call(1, 0, 10, reads: ["a": []], appends: ["a": 1]),
            call(2, 5, 15, reads: ["a": [1]], appends: ["a": 2]),
            call(3, 5, 30, reads: ["a": [1]]),
            call(4, 20, nil, appends: ["a": 4], .unknown),
            call(5, 20, 25, appends: ["a": 5], .refused),
        ]
        #expect(ListChecker.violation(in: calls, final: ["a": [1, 2]]) == nil)
        #expect(ListChecker.violation(in: calls, final: ["a": [1, 2, 4]]) == nil)
    }

    @Test func listsThatNoOrderExplainsAreFound() {
        let lost = [call(1, 0, 10, appends: ["a": 1])]
        #expect(ListChecker.violation(in: lost, final: ["a": []]) != nil)
        let twice = [call(1, 0, 10, appends: ["a": 1])]
        #expect(ListChecker.violation(in: twice, final: ["a": [1, 1]]) != nil)
        let refused = [call(1, 0, 10, appends: ["a": 1], .refused)]
        #expect(ListChecker.violation(in: refused, final: ["a": [1]]) != nil)
        let half = [call(1, 0, nil, appends: ["a": 1, "b": 1], .unknown)]
        #expect(ListChecker.violation(in: half, final: ["a": [1], "b": []]) != nil)
        let stale = [
            call(1, 0, 10, appends: ["a": 1]), call(2, 20, 30, reads: ["a": []]),
        ]
        #expect(ListChecker.violation(in: stale, final: ["a": [1]]) != nil)
        let skew = [
            call(1, 0, 10, reads: ["a": [], "b": []], appends: ["a": 1]),
            call(2, 0, 10, reads: ["a": [], "b": []], appends: ["b": 2]),
        ]
        #expect(ListChecker.violation(in: skew, final: ["a": [1], "b": [2]]) != nil)
    }

    private func register(
        _ id: Int, _ action: RegisterCall.Action, _ invoked: Int, _ returned: Int?
    ) -> RegisterCall {
        RegisterCall(
            id: id, action: action, invoked: time(invoked), returned: returned.map(time))
    }

    @Test func registersThatOneOrderExplainsAreSound() {
        let calls = [
            register(1, .write(1), 0, 10), register(2, .read(nil), 0, 10),
            register(3, .replace(1, 3), 5, 20), register(4, .write(4), 8, nil),
            register(5, .read(4), 30, 40), register(6, .write(nil), 50, 60),
            register(7, .read(nil), 70, 80),
        ]
        #expect(RegisterChecker.violation(in: calls) == nil)
    }

    @Test func registersThatNoOrderExplainsAreFound() {
        let stale = [
            register(1, .write(1), 0, 10), register(2, .write(2), 20, 30),
            register(3, .read(1), 40, 50),
        ]
        #expect(RegisterChecker.violation(in: stale) != nil)
        // One write that was made twice.
        let again = [
            register(1, .write(1), 0, 100), register(2, .write(2), 10, 20),
            register(3, .read(1), 30, 40), register(4, .write(4), 50, 60),
            register(5, .read(1), 70, 80),
        ]
        #expect(RegisterChecker.violation(in: again) != nil)
        let replaced = [register(1, .write(1), 0, 10), register(2, .replace(7, 2), 20, 30)]
        #expect(RegisterChecker.violation(in: replaced) != nil)
    }
}
