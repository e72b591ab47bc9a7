import RoostFormat
import RoostIO
import Synchronization

/// The segments whose batches are not all in snapshots, so that what was committed since some
/// version can be read again.
///
/// - Ascending by number and by sequence number. Only segments that began with a valid header.
/// - Keeps their memory; the log's tables do so too until the flush that forgets them here.
package final class LogHistory: Sendable {
    package struct Segment: Sendable {
        package let number: UInt64
        package let firstSequence: UInt64
        package let seed: ChecksumSeed
        package let region: MappedRegion
    }

    private let held: Mutex<[Segment]>

    package init() { held = Mutex([]) }

    /// Begins with what an opening kept.
    package init(_ recovered: LogRecovery) {
        let cut = Set(
            recovered.tornTails.lazy.filter { $0.offset <= SegmentHeader.sizeBytes }.map(\.segment))
        held = Mutex(
            recovered.readers.compactMap { reader in
                guard case .valid(let header) = reader.header, !cut.contains(reader.number) else {
                    return nil
                }
                return Segment(
                    number: header.number, firstSequence: header.firstSequence, seed: header.seed,
                    region: reader.region)
            })
    }

    package var segments: [Segment] { held.withLock { $0 } }

    func add(_ header: SegmentHeader, _ region: MappedRegion) {
        let segment = Segment(
            number: header.number, firstSequence: header.firstSequence, seed: header.seed,
            region: region)
        held.withLock { $0.append(segment) }
    }

    /// The segment `number` held no batch, and is gone.
    func remove(_ number: UInt64) { held.withLock { $0.removeAll { $0.number == number } } }

    /// All that the segments before `number` held is in snapshots.
    package func forget(before number: UInt64) {
        // Unmapping takes milliseconds, and a writer that rotates takes the mutex.
        let forgotten = held.withLock { segments in
            let begin = segments.firstIndex { $0.number >= number } ?? segments.endIndex
            defer { segments.removeFirst(begin) }
            return segments[..<begin]
        }
        withExtendedLifetime(forgotten) {}
    }
}
