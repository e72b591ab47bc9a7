import RoostEngine
import RoostIO
import Synchronization

/// What was found of the indexes, by their numbers: each is looked at once in an opening. docs/decisions/0264.
final class IndexLooks: Sendable {
    private struct State {
        var answers: [UInt64: Bool] = [:]
        /// Those that are there instead of ones that did not agree.
        var replacements: Set<UInt64> = []
    }

    private let state = Mutex(State())

    /// Whether an index agrees with its declaration; `nil` where nobody has looked yet.
    func answer(of number: UInt64) -> Bool? { state.withLock { $0.answers[number] } }

    func isReplacement(_ number: UInt64) -> Bool {
        state.withLock { $0.replacements.contains(number) }
    }

    /// Of several who look at once one may see what the others do not. Returns what is so then.
    func note(_ number: UInt64, agrees: Bool) -> Bool {
        state.withLock { state in
            let all = agrees && state.answers[number] ?? true
            state.answers[number] = all
            return all
        }
    }

    /// An index that is built by this declaration agrees with it.
    func noteAdded(_ number: UInt64, insteadOf others: [UInt64]) {
        state.withLock { state in
            state.answers[number] = true
            if others.contains(where: { state.answers[$0] == false }) {
                state.replacements.insert(number)
            }
        }
    }
}

extension ObjectIndexes {
    enum Agreement {
        case agrees
        case disagrees
        /// Whoever asks may not look, and nobody has looked yet.
        case unknown
    }

    /// Whether an index has what its declaration makes of the objects, as far as a sample tells. The first call for an
    /// index looks at the sample; where it does not agree, this has it built anew.
    ///
    /// - Parameter mayLook: `false` where others wait for the caller.
    func agreement(
        _ active: IndexSet<Item>.Active, _ progress: IndexCatalog.Progress, _ view: EngineView,
        mayLook: Bool = true
    ) throws -> Agreement {
        if let known = looks.answer(of: active.number) { return known ? .agrees : .disagrees }
        guard mayLook else { return .unknown }
        let sample = IndexSample(active, try objects, view)
        if looks.note(active.number, agrees: try sample.agrees(progress)) { return .agrees }
        if engine.isWritable { noteMarkMissing() }
        return .disagrees
    }

    /// Whether an index that is there is built anew where the declarations are adopted.
    func isToBeReplaced(
        _ active: IndexSet<Item>.Active, _ progress: IndexCatalog.Progress, _ view: EngineView
    ) throws -> Bool {
        if case .failed = progress { return true }
        return try agreement(active, progress, view) == .disagrees
    }
}
