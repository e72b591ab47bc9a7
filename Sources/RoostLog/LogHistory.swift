import RoostFormat
import RoostIO
import Synchronization

/// The segments whose batches are not all in snapshots, so that what was committed since some
/// version can be read again.
///
/// - Ascending by number and by sequence number. Only segments that began with a valid header.
/// - Keeps their memory; the log's tables do so too until the flush that forgets them here.
/// - What is forgotten and a `LogHold` still needs goes over to the hold, in the same step.
package final class LogHistory: Sendable {
    package struct Segment: Sendable {
        package let number: UInt64
        package let firstSequence: UInt64
        package let seed: ChecksumSeed
        package let region: MappedRegion
    }

    private struct State {
        var segments: [Segment]
        var holds: [UInt64: LogHold.Held] = [:]
        var lastHold: UInt64 = 0
    }

    private let state: Mutex<State>

    package init() { state = Mutex(State(segments: [])) }

    /// Begins with what an opening kept.
    package init(_ recovered: LogRecovery) {
        let cut = Set(
            recovered.tornTails.lazy.filter { $0.offset <= SegmentHeader.sizeBytes }.map(\.segment))
        let segments = recovered.readers.compactMap { reader -> Segment? in
            guard case .valid(let header) = reader.header, !cut.contains(reader.number) else {
                return nil
            }
            return Segment(
                number: header.number, firstSequence: header.firstSequence, seed: header.seed,
                region: reader.region)
        }
        state = Mutex(State(segments: segments))
    }

    package var segments: [Segment] { state.withLock { $0.segments } }

    /// Adds the newest segment, of `region`, unless it is there. Others of its number and of higher ones held no batch,
    /// and are gone.
    package func addIfNew(_ segment: @autoclosure () -> Segment, region: MappedRegion) {
        let replaced = state.withLock { state -> ArraySlice<Segment> in
            if state.segments.last?.region === region { return [] }
            let new = segment()
            let begin =
                state.segments.firstIndex { $0.number >= new.number } ?? state.segments.endIndex
            let replaced = state.segments[begin...]
            state.segments.replaceSubrange(begin..., with: [new])
            return replaced
        }
        withExtendedLifetime(replaced) {}
    }

    /// Begins anew.
    package func replace(with segments: [Segment]) {
        let old = state.withLock { state in
            defer { state.segments = segments }
            return state.segments
        }
        withExtendedLifetime(old) {}
    }

    func add(_ header: SegmentHeader, _ region: MappedRegion) {
        let segment = Segment(
            number: header.number, firstSequence: header.firstSequence, seed: header.seed,
            region: region)
        state.withLock { $0.segments.append(segment) }
    }

    /// The segment `number` held no batch, and is gone.
    func remove(_ number: UInt64) {
        state.withLock { $0.segments.removeAll { $0.number == number } }
    }

    /// All that the segments before `number` held is in snapshots.
    package func forget(before number: UInt64) {
        // Unmapping takes milliseconds, and a writer that rotates takes the mutex.
        let forgotten = state.withLock { state -> [Segment] in
            let begin = state.segments.firstIndex { $0.number >= number } ?? state.segments.endIndex
            let forgotten = Array(state.segments[..<begin])
            state.segments.removeFirst(begin)
            let following = state.segments.first?.firstSequence
            var given: [Segment] = []
            for (key, var held) in state.holds {
                given += held.take(forgotten, before: following)
                state.holds[key] = held
            }
            return forgotten + given
        }
        withExtendedLifetime(forgotten) {}
    }

    // MARK: Holds

    /// Keeps the segments with batches after `sequence` until they are read; `nil` where the first of
    /// these batches is gone already. Of what is forgotten meanwhile at most `limitBytes` of files
    /// are kept.
    package func hold(after sequence: UInt64, limitBytes: Int) -> LogHold? {
        state.withLock { state in
            guard let first = state.segments.first, first.firstSequence <= sequence + 1 else {
                return nil
            }
            return hold(&state, after: sequence, limitBytes)
        }
    }

    /// As `hold(after:limitBytes:)`, of all that is there, and the last batch before it; `nil` where nothing is.
    package func holdAll(limitBytes: Int) -> (hold: LogHold, position: UInt64)? {
        state.withLock { state in
            guard let first = state.segments.first else { return nil }
            let position = first.firstSequence - 1
            return (hold(&state, after: position, limitBytes), position)
        }
    }

    private func hold(
        _ state: inout State, after sequence: UInt64, _ limitBytes: Int
    ) -> LogHold {
        state.lastHold += 1
        // Less than nothing would be too much at once, though nothing is held.
        state.holds[state.lastHold] = LogHold.Held(
            position: sequence, limitBytes: max(limitBytes, 0))
        return LogHold(number: state.lastHold, history: self)
    }

    func segments(of hold: UInt64) -> [Segment]? {
        state.withLock { state in
            guard let held = state.holds[hold], !held.isLost else { return nil }
            return held.retained + state.segments
        }
    }

    func advance(_ hold: UInt64, to sequence: UInt64) {
        // As above, what goes is unmapped behind the mutex.
        let given = state.withLock { state -> [Segment] in
            guard var held = state.holds[hold] else { return [] }
            held.position = max(held.position, sequence)
            let given = held.take([], before: state.segments.first?.firstSequence)
            state.holds[hold] = held
            return given
        }
        withExtendedLifetime(given) {}
    }

    func release(_ hold: UInt64) {
        let held = state.withLock { $0.holds.removeValue(forKey: hold) }
        withExtendedLifetime(held) {}
    }
}
