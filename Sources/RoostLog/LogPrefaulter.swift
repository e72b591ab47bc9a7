import RoostIO
import Synchronization

/// Brings the pages of a segment that are about to be written to into the page table, on a thread
/// of its own: a page fault in a fresh file costs a writer as much as the frames that the page
/// holds. docs/decisions/0034.
///
/// - What is asked for lies ahead of all that was appended; nothing here writes a byte.
/// - The thread begins with the first request: small stores never have it.
package final class LogPrefaulter: Sendable {
    /// How far ahead of the writers the pages are made ready.
    static let aheadBytes = 1 << 20
    /// A call holds off those who map and unmap files.
    private static let stepBytes = 128 << 10

    private let scheduling: any Scheduling
    private let thread = Mutex<WorkerThread?>(nil)

    package init(scheduling: any Scheduling) { self.scheduling = scheduling }

    /// Begins to make a part of `region` ready; does not wait.
    func begin(_ region: MappedRegion, offset: Int, sizeBytes: Int) {
        let thread = thread.withLock { thread in
            if let thread { return thread }
            let begun = scheduling.thread(named: "roost-ahead")
            thread = begun
            return begun
        }
        // Holds the thread: its end would be the end of what it has not begun.
        Task.detached(executorPreference: thread.forTasks) { [thread] in
            withExtendedLifetime(thread) {
                for step in stride(from: offset, to: offset + sizeBytes, by: Self.stepBytes) {
                    let size = min(Self.stepBytes, offset + sizeBytes - step)
                    region.prefault(offset: step, sizeBytes: size)
                }
            }
        }
    }
}
