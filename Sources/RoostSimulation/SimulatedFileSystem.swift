import RoostIO
import Synchronization

/// A file system in memory, of one directory, that can lose what was not synced.
///
/// - Nothing of it depends on time or on chance but the seed of its `Disk`.
/// - After `crash` or when its calls have run out it is off: every call fails, and memory that
///   was mapped stays readable and counts no more. The successor is a file system of its own.
package struct SimulatedFileSystem: FileSystem {
    let machine: Machine
    package let scheduling: any Scheduling

    package init(disk: Disk, scheduling: any Scheduling = SystemScheduling()) {
        machine = Machine(disk: disk)
        self.scheduling = scheduling
    }

    package func openDirectory(at path: String, create: Bool) throws -> any Directory {
        let handle = try machine.state.withLock { state in
            if state.isOff { throw RoostError(.io, "the machine is off", file: path) }
            defer { state.nextHandle += 1 }
            return state.nextHandle
        }
        return SimulatedDirectory(path: path, machine: machine, handle: handle)
    }

    // MARK: Crashes

    /// The machine stops before the changing call that follows the next `count` ones.
    package func stop(afterCalls count: Int?) { machine.state.withLock { $0.callsLeft = count } }

    package var isOff: Bool { machine.state.withLock { $0.isOff } }
    /// The changing calls so far.
    package var callCount: Int { machine.state.withLock { $0.callCount } }

    /// Turns the machine off, where it is not, and returns its disk with all that was written.
    package func turnOff() -> Disk {
        machine.state.withLock { state in
            state.turnOff()
            return state.disk
        }
    }

    // MARK: Faults

    package func inject(_ fault: Fault) { machine.state.withLock { $0.faults.append(fault) } }
    package func clearFaults() { machine.state.withLock { $0.faults = [] } }
    package var firedFaults: [FaultKind: Int] { machine.state.withLock { $0.firedFaults } }

    // MARK: Recording

    /// Keeps the disk as it is before each changing call from here on.
    package func record() { machine.state.withLock { $0.journal = [] } }

    /// What was recorded, and the disk as it is now.
    package func recorded() -> [Disk] {
        machine.state.withLock { state in
            for id in state.disk.inodes.keys { state.disk.inodes[id]?.absorb() }
            var last = state.disk
            last.dropMappings()
            return (state.journal ?? []) + [last]
        }
    }
}
