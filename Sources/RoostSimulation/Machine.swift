import RoostIO
import Synchronization

/// A running simulated machine: its disk, the faults that wait, and when it will stop.
final class Machine: Sendable {
    struct State: Sendable {
        var disk: Disk
        var faults: [Fault] = []
        var firedFaults: [FaultKind: Int] = [:]
        /// So many changing calls are made before the machine stops.
        var callsLeft: Int?
        var isOff = false
        var callCount = 0
        /// The disk before each changing call, where that is asked for.
        var journal: [Disk]?
        var exclusiveHolder: Int?
        var sharedCount = 0
        var nextHandle = 1
    }

    let state: Mutex<State>

    init(disk: Disk) { state = Mutex(State(disk: disk)) }

    /// Makes one call: counts it, stops the machine where its time has come, lets a waiting fault
    /// hit it, and else runs `body`.
    func call<Result: Sendable>(
        _ kind: CallKind, _ path: String,
        onFault: (inout sending Disk, FaultKind) -> Void = { _, _ in },
        _ body: (inout sending State) throws -> sending Result
    ) throws -> Result {
        try state.withLock { state in
            if kind.changesDisk { state.noteChange() }
            if state.isOff { throw RoostError(.io, "the machine is off", file: path) }
            if let fault = state.fault(for: kind) {
                onFault(&state.disk, fault)
                if fault.isFailure { throw fault.error(kind, path) }
                // The second part is a call of its own, which the machine may not live to make.
                if fault == .shortCount, kind.changesDisk { state.noteChange() }
                if state.isOff { throw RoostError(.io, "the machine is off", file: path) }
            }
            return try body(&state)
        }
    }
}

extension Machine.State {
    fileprivate mutating func noteChange() {
        guard !isOff else { return }
        if journal != nil {
            for id in disk.inodes.keys { disk.inodes[id]?.absorb() }
            var image = disk
            image.dropMappings()
            journal?.append(image)
        }
        if let left = callsLeft {
            if left == 0 { turnOff() } else { callsLeft = left - 1 }
        }
        callCount += 1
    }

    mutating func turnOff() {
        guard !isOff else { return }
        disk.detachMappings()
        isOff = true
    }

    /// The fault that hits a call of `kind` now, if one does.
    fileprivate mutating func fault(for kind: CallKind) -> FaultKind? {
        for index in faults.indices where faults[index].matches(kind) {
            if faults[index].skipCount > 0 {
                faults[index].skipCount -= 1
                continue
            }
            let fault = faults[index]
            if !fault.isLasting { faults.remove(at: index) }
            firedFaults[fault.kind, default: 0] += 1
            return fault.kind
        }
        return nil
    }
}

extension Disk {
    mutating func dropMappings() {
        for id in inodes.keys { inodes[id]?.dropMappings() }
    }
}
