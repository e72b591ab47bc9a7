import RoostIO
import Synchronization
import Testing

@testable import RoostEngine
@testable import RoostLog

@Suite struct WriteBehindTests {
    /// Each look at the function once wrapped it again: in a release build a hundred thousand
    /// enqueued writes made a chain that overran the stack when the workspace went.
    @Test func whatIsCalledAfterAnAppendDoesNotGrowWithTheAppends() {
        let called = Mutex(0)
        let behind = WriteBehind(condition: EngineCondition(isReadOnly: false))
        behind.setOnAppend { appended in called.withLock { $0 += Int(appended.sequence) } }
        let appended = LogWriter.Appended(
            sequence: 1, location: 0, region: .anonymous(sizeBytes: 64), totalBytes: 0)
        let count = 400_000
        for _ in 0..<count { behind.noteAppended(appended) }
        #expect(called.withLock { $0 } == count)
        behind.setOnAppend(nil)
        behind.noteAppended(appended)
        #expect(called.withLock { $0 } == count)
    }
}
