import RoostIO
import Synchronization

/// The one directory of a simulated file system. Its lock goes with the handle.
final class SimulatedDirectory: Directory {
    let path: String
    private let machine: Machine
    private let handle: Int
    private let isShared = Atomic<Bool>(false)

    init(path: String, machine: Machine, handle: Int) {
        self.path = path
        self.machine = machine
        self.handle = handle
    }

    deinit { release() }

    func lock(exclusive: Bool, patience: Duration) throws {
        let path = path
        let handle = handle
        try machine.state.withLock { state in
            guard state.exclusiveHolder == nil, !exclusive || state.sharedCount == 0 else {
                throw RoostError(.locked, "another opening of this workspace is active", file: path)
            }
            if exclusive { state.exclusiveHolder = handle } else { state.sharedCount += 1 }
        }
        if !exclusive { isShared.store(true, ordering: .relaxed) }
    }

    func unlock() throws { release() }

    private func release() {
        let handle = handle
        let wasShared = isShared.exchange(false, ordering: .relaxed)
        machine.state.withLock { state in
            if state.exclusiveHolder == handle { state.exclusiveHolder = nil }
            if wasShared { state.sharedCount -= 1 }
        }
    }

    func randomNumber() -> UInt64 { machine.state.withLock { $0.disk.random.next() } }

    func entries() throws -> [DirectoryEntry] {
        try machine.call(.list, path) { state in
            state.disk.entries.volatile.keys.sorted().map {
                DirectoryEntry(name: $0, isRegularFile: true)
            }
        }
    }

    /// Numbers are not given again, so they tell files apart by themselves.
    func identity(of name: String) throws -> FileIdentity? {
        try machine.call(.identify, full(name)) { state in
            state.disk.entries.volatile[name].map {
                FileIdentity(device: 1, number: UInt64($0), changeNanoseconds: 0)
            }
        }
    }

    func createFile(_ name: String) throws -> any File {
        let path = full(name)
        let inode = try machine.call(.create, path) { state in
            guard state.disk.entries.volatile[name] == nil else {
                throw RoostError(.io, "could not create: the file exists", file: path)
            }
            let inode = state.disk.nextInode
            state.disk.nextInode += 1
            state.disk.inodes[inode] = Inode()
            state.disk.entries.make(.link(name, inode))
            return inode
        }
        return SimulatedFile(path: path, machine: machine, inode: inode)
    }

    func openFile(_ name: String, writable: Bool) throws -> any File {
        let path = full(name)
        let inode = try machine.call(.open, path) { state in try state.inode(of: name, path) }
        return SimulatedFile(path: path, machine: machine, inode: inode)
    }

    func rename(_ source: String, to target: String) throws {
        let path = full(source)
        try machine.call(.rename, path) { state in
            let inode = try state.inode(of: source, path)
            state.disk.entries.make(.move(source, to: target, inode))
        }
    }

    func remove(_ name: String) throws {
        let path = full(name)
        try machine.call(.remove, path) { state in
            let inode = try state.inode(of: name, path)
            state.disk.entries.make(.unlink(name, inode))
        }
    }

    func sync() throws {
        try machine.call(.syncDirectory, path) { state in state.disk.entries.sync() }
    }

    private func full(_ name: String) -> String { "\(path)/\(name)" }
}

extension Machine.State {
    fileprivate func inode(of name: String, _ path: String) throws -> Int {
        guard let inode = disk.entries.volatile[name] else {
            throw RoostError(.io, "no such file", file: path)
        }
        return inode
    }
}
