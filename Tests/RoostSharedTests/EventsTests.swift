import RoostIO
import RoostShared
import Testing

/// What waits for a reader of an engine's events.
@Suite struct EventsTests {
    private func event(_ revision: UInt64, sizeBytes: Int) -> SharedEvent {
        let change = SharedChange(
            key: [1], value: [UInt8](repeating: 7, count: sizeBytes), revision: revision)
        return .changes([change], through: revision)
    }

    /// The revisions up to which a reader is told before it hears that it fell behind.
    private func revisions(_ events: SharedEvents) async throws -> [UInt64] {
        var revisions: [UInt64] = []
        let error = await #expect(throws: RoostError.self) {
            for try await case .changes(_, let through) in events { revisions.append(through) }
        }
        #expect(error?.code == .unavailable)
        #expect(error?.message == "the reader fell behind")
        return revisions
    }

    /// Few large events are as much as many small ones.
    @Test func aReaderWhoDoesNotReadKeepsABoundedNumberOfBytes() async throws {
        let (events, source) = SharedEvents.make()
        let sizeBytes = SharedEvents.waitingBytesLimit / 8 - 1
        for revision in 1...20 as ClosedRange<UInt64> {
            source.tell(event(revision, sizeBytes: sizeBytes))
        }
        #expect(try await revisions(events) == Array(1...8))
    }

    /// Where nothing else waits it is told; and how far the engine is needs no room.
    @Test func oneEventMayBeLargerThanThat() async throws {
        let (events, source) = SharedEvents.make()
        source.tell(event(1, sizeBytes: SharedEvents.waitingBytesLimit))
        source.tell(.changes([], through: 2))
        source.tell(event(3, sizeBytes: 1))
        #expect(try await revisions(events) == [1, 2])
    }

    /// What was read makes room for what comes next.
    @Test func aReaderWhoReadsIsToldEverything() async throws {
        let (events, source) = SharedEvents.make()
        var iterator = events.makeAsyncIterator()
        for revision in 1...5 as ClosedRange<UInt64> {
            source.tell(event(revision, sizeBytes: SharedEvents.waitingBytesLimit / 2))
            guard case .changes(_, revision)? = try await iterator.next() else {
                Issue.record("revision \(revision) was not told")
                return
            }
        }
    }
}
