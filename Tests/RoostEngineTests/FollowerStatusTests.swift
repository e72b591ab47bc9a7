import RoostIO
import RoostLog
import Synchronization
import Testing

@testable import RoostEngine

/// What others ask of a follower's thread.
@Suite struct FollowerStatusTests {
    private let status = FollowerStatus(
        page: nil, log: FollowedLog(lastSequence: 0, segments: []), durableSequence: 0)
    private let answered = Counter()

    private final class Counter: Sendable {
        private let count = Atomic(0)
        func add() { count.add(1, ordering: .relaxed) }
        var value: Int { count.load(ordering: .relaxed) }
    }

    @Test func whoAsksForARoomBeforeTheEndIsAnsweredByIt() {
        status.release { [answered] in answered.add() }
        #expect(answered.value == 0)
        status.stop()
        #expect(answered.value == 1)
        status.release { [answered] in answered.add() }
        #expect(answered.value == 2)
    }

    @Test func soIsWhoAsksBeforeAFailureOrAfterIt() {
        status.release { [answered] in answered.add() }
        status.fail(RoostError(.corrupt, "the test lets it fail"), [])
        #expect(answered.value == 1)
        status.release { [answered] in answered.add() }
        #expect(answered.value == 2)
    }
}
