import RoostIO
import Testing

@testable import RoostEngine

/// The story: an event keeps its segment, and with it the disk space that a flush would give back. What was read or
/// passed over stayed in the queue, up to 64 events of it, each perhaps of another segment.
@Suite struct EventQueueTests {
    private struct Kept {
        weak var region: MappedRegion?
    }

    /// An event whose segment nothing but the queue keeps.
    private func add(to queue: inout EventQueue, _ buffering: Watcher.Buffering) -> Kept {
        let region = MappedRegion.anonymous(sizeBytes: 16)
        queue.add([WatchEvent(content: .cleared, owner: region)], buffering)
        return Kept(region: region)
    }

    @Test func whatWasPassedOverKeepsNoSegment() {
        var queue = EventQueue()
        let kept = (0..<40).map { _ in add(to: &queue, .newest(1)) }
        #expect(queue.count == 1)
        let keptCount = kept.count { $0.region != nil }
        #expect(keptCount == 1)
    }

    @Test func whatWasReadKeepsNoSegment() {
        var queue = EventQueue()
        let kept = (0..<3).map { _ in add(to: &queue, .bounded(100)) }
        let isRead = queue.popFirst() != nil
        #expect(isRead)
        let isKept = kept.map { $0.region != nil }
        #expect(isKept == [false, true, true])
        #expect(queue.count == 2)
    }
}
