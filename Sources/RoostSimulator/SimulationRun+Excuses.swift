import Roost
import RoostEngine
import RoostFormat
import RoostIO
import RoostSimulation

// Which errors of calls are right: those for which there is a reason.

extension SimulationRun {
    /// Faults that failed calls, and that the workspace need not have got over.
    private var presentFaults: Set<FaultKind> {
        Set(
            fileSystem.firedFaults.filter { $0.key.isFailure && $0.value > pastFaults[$0.key] ?? 0 }
                .keys)
    }

    var hasFaults: Bool { !presentFaults.isEmpty || mayBePoisoned && isPoisoned(workspace) }

    /// A round begins, and nothing is under way but the engine's own work. Where only descriptors or room were
    /// missing, what they made fail has failed: what fails from here on has to have another reason. A failed sync's
    /// poison stays.
    func endExcuses(of workspace: Workspace) {
        standingFailure = workspace.engine.statistics.compactionFailure
        let faults = presentFaults
        guard !isFaultLasting, !faults.isEmpty, faults.isSubset(of: [.tooManyFiles, .noSpace]),
            !isPoisoned(workspace)
        else { return }
        note("\(faults.map(\.rawValue).sorted()) excuse no more")
        pastFaults = fileSystem.firedFaults
        hasPastFaults = true
        if faults.contains(.noSpace) { mayBePoisoned = true }
    }

    private func isPoisoned(_ workspace: Workspace?) -> Bool {
        do { try workspace?.engine.checkWritable() } catch let error as RoostError {
            return error.code != .closed
        } catch { return false }
        return false
    }

    /// Errors are right only where a fault hit or the machine is off, and only some of them.
    func excuse(_ error: RoostError) throws {
        if error.code == .closed, isClosing || workspace == nil { return }
        if error.code == .cancelled { return }
        // Told late: the machine's faults may have been cleared since.
        if error.message.hasPrefix("the enqueued write") { return }
        if error.code == .poisoned, mayBePoisoned { return }
        let codes: [RoostError.Code] = [.io, .outOfSpace, .poisoned, .closed]
        guard fileSystem.isOff || hasFaults || isOfFailedFlush(error), codes.contains(error.code)
        else {
            throw SimulationFailure("an error without a reason: \(error)")
        }
    }

    /// Whether a past fault made a flush fail with it. One that was under way when the round began says so only now.
    private func isOfFailedFlush(_ error: RoostError) -> Bool {
        let failure = workspace?.engine.statistics.compactionFailure
        return hasPastFaults && [standingFailure, failure].contains(error.description)
    }

    /// Runs `body`, whose errors need a reason.
    func attempt(_ body: () throws -> Void) throws {
        do { try body() } catch let error as RoostError { try excuse(error) }
    }
}
