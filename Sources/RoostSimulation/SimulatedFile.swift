import Foundation
import RoostIO

/// An open file of a simulated file system.
struct SimulatedFile: File {
    let path: String
    let machine: Machine
    let inode: Int

    func sizeBytes() throws -> UInt64 {
        try machine.call(.read, path) { state in
            UInt64(state.disk.inodes[inode]?.volatile.sizeBytes ?? 0)
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws {
        let bytes = try machine.call(.read, path) { state in
            guard var file = state.disk.inodes[inode] else { return SparseBytes() }
            file.absorb()
            state.disk.inodes[inode] = file
            return file.volatile
        }
        guard offset + UInt64(buffer.count) <= UInt64(bytes.sizeBytes) else {
            throw RoostError(
                .corrupt, "the file ends early", file: path, offset: UInt64(bytes.sizeBytes))
        }
        if let base = buffer.baseAddress { memset(base, 0, buffer.count) }
        bytes.copy(to: buffer, at: Int(offset))
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
        // A copy, as memory cannot be sent into the lock.
        let copy = Array(bytes)
        let cut: (inout sending Disk, FaultKind) -> Void = { disk, fault in
            guard fault == .shortWrite || fault == .shortCount, copy.count > 1 else { return }
            let count = 1 + disk.random.below(copy.count - 1)
            copy.prefix(count).withUnsafeBytes {
                disk.inodes[inode]?.write($0, at: Int(offset))
            }
        }
        try machine.call(.write, path, onFault: cut) { state in
            copy.withUnsafeBytes { state.disk.inodes[inode]?.write($0, at: Int(offset)) }
        }
    }

    func preallocate(sizeBytes: UInt64) throws {
        try machine.call(.preallocate, path) { state in
            guard let size = state.disk.inodes[inode]?.volatile.sizeBytes else { return }
            state.disk.inodes[inode]?.resize(to: max(size, Int(sizeBytes)))
        }
    }

    func truncate(to sizeBytes: UInt64) throws {
        try machine.call(.truncate, path) { state in
            state.disk.inodes[inode]?.resize(to: Int(sizeBytes))
        }
    }

    func writtenEnd() throws -> UInt64 {
        try machine.call(.read, path) { state in
            state.disk.inodes[inode]?.absorb()
            return UInt64(state.disk.inodes[inode]?.volatile.writtenEnd ?? 0)
        }
    }

    func syncData() throws {
        let drop: (inout sending Disk, FaultKind) -> Void = { disk, fault in
            guard fault.isFailure else { return }
            var choices = RandomChoices(seed: disk.random.next())
            disk.inodes[inode]?.failSync(&choices)
        }
        try machine.call(.sync, path, onFault: drop) { state in state.disk.inodes[inode]?.sync() }
    }

    func map(sizeBytes: Int, writable: Bool) throws -> MappedRegion? {
        guard sizeBytes > 0 else { return nil }
        let content = try machine.call(.map, path) { state -> SparseBytes? in
            guard state.disk.allowsMapping else { return nil }
            state.disk.inodes[inode]?.absorb()
            return state.disk.inodes[inode]?.volatile
        }
        guard let content else { return nil }
        let memory = MappedRegion.anonymous(sizeBytes: sizeBytes)
        let base = memory.base
        content.copy(to: .init(start: base, count: min(sizeBytes, content.sizeBytes)), at: 0)
        if !writable { return memory }
        let address = UInt(bitPattern: base)
        machine.state.withLock { state in
            state.disk.inodes[inode]?.addMapping(.init(base: address, sizeBytes: sizeBytes))
        }
        return MappedRegion(base: base, sizeBytes: sizeBytes) { [machine, inode] _, _ in
            machine.state.withLock { $0.disk.inodes[inode]?.removeMapping(base: address) }
            withExtendedLifetime(memory) {}
        }
    }
}
