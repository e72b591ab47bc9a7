import Synchronization

@testable import RoostIO

/// Files in memory on a disk that may be full: what writes to it then throws `.outOfSpace`. Nothing of it is
/// mapped, so that every write asks.
final class FullFileSystem: FileSystem {
    private let base = MemoryFileSystem()
    private let state = Full()

    func setFull(_ isFull: Bool) { state.isFull.store(isFull, ordering: .sequentiallyConsistent) }
    /// How many calls were refused.
    var refusedCount: Int { state.refusedCount.load(ordering: .sequentiallyConsistent) }

    func openDirectory(at path: String, create: Bool) throws -> any Directory {
        FullDirectory(base: try base.openDirectory(at: path, create: create), state: state)
    }
}

private final class Full: Sendable {
    let isFull = Atomic(false)
    let refusedCount = Atomic(0)

    func check(_ path: String) throws {
        guard isFull.load(ordering: .sequentiallyConsistent) else { return }
        refusedCount.wrappingAdd(1, ordering: .sequentiallyConsistent)
        throw RoostError(.outOfSpace, "the disk is full", file: path)
    }
}

private struct FullDirectory: Directory {
    let base: any Directory
    let state: Full

    var path: String { base.path }
    func lock(exclusive: Bool, patience: Duration) throws {
        try base.lock(exclusive: exclusive, patience: patience)
    }
    func unlock() throws { try base.unlock() }
    func noteLeft() { base.noteLeft() }
    func entries() throws -> [DirectoryEntry] { try base.entries() }
    func createFile(_ name: String) throws -> any File {
        try state.check(name)
        return FullFile(base: try base.createFile(name), state: state)
    }
    func openFile(_ name: String, writable: Bool) throws -> any File {
        FullFile(base: try base.openFile(name, writable: writable), state: state)
    }
    func rename(_ source: String, to target: String) throws {
        try base.rename(source, to: target)
    }
    func remove(_ name: String) throws { try base.remove(name) }
    func link(_ name: String, from other: any Directory) throws -> Bool {
        try base.link(name, from: (other as? FullDirectory)?.base ?? other)
    }
    func sync() throws { try base.sync() }
    func syncAncestors() throws { try base.syncAncestors() }
    func identity(of name: String) throws -> FileIdentity? { try base.identity(of: name) }
    func isReplaced() throws -> Bool { try base.isReplaced() }
    var sharing: MemorySharing { get throws { try base.sharing } }
    func randomNumber() -> UInt64 { base.randomNumber() }
}

private struct FullFile: File {
    let base: any File
    let state: Full

    var path: String { base.path }
    func sizeBytes() throws -> UInt64 { try base.sizeBytes() }
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws {
        try base.read(into: buffer, at: offset)
    }
    func readUp(to buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
        try base.readUp(to: buffer, at: offset)
    }
    func holdLock() throws { try base.holdLock() }
    func releaseLock() throws { try base.releaseLock() }
    func isLocked() throws -> Bool { try base.isLocked() }
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
        try state.check(path)
        try base.write(bytes, at: offset)
    }
    func preallocate(sizeBytes: UInt64) throws {
        try state.check(path)
        try base.preallocate(sizeBytes: sizeBytes)
    }
    func truncate(to sizeBytes: UInt64) throws { try base.truncate(to: sizeBytes) }
    func writtenEnd() throws -> UInt64 { try base.writtenEnd() }
    func syncData() throws { try base.syncData() }
    func forgetCached() { base.forgetCached() }
    func map(sizeBytes: Int, writable: Bool) throws -> MappedRegion? {
        writable ? nil : try base.map(sizeBytes: sizeBytes, writable: false)
    }
    func memory(sizeBytes: Int) -> MappedRegion { base.memory(sizeBytes: sizeBytes) }
}
