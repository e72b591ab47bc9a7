import RoostIO
import Synchronization

/// One call that changes something, before it is made.
package enum FileCall: Sendable, Equatable {
    case createFile(String)
    case write(String)
    case preallocate(String)
    case truncate(String)
    case syncData(String)
    case rename(String, to: String)
    case remove(String)
    case link(String)
    case syncDirectory
    case syncAncestors
}

/// One call that takes a descriptor or memory of the process, before it is made.
package enum ResourceCall: Sendable, Equatable {
    case create(String)
    case open(String)
    case list
    case map(String)
}

/// The real file system with a hook before each changing call: the hook may count, wait, or
/// throw, and then the call is not made.
package struct ObservedFileSystem: FileSystem {
    package typealias Hook = @Sendable (FileCall) throws -> Void

    private let base: any FileSystem
    private let hook: Hook
    private var readHook: (@Sendable (_ name: String) -> Void)?
    private var claimedSharing: MemorySharing?
    private var keepsLocks = true
    private var resourceHook: (@Sendable (_ call: ResourceCall) throws -> Void)?

    package init(_ base: any FileSystem = PosixFileSystem(), hook: @escaping Hook) {
        self.base = base
        self.hook = hook
    }

    /// With a hook before each read of what another opening may be writing.
    package func onRead(_ hook: @escaping @Sendable (_ name: String) -> Void) -> ObservedFileSystem
    {
        var copy = self
        copy.readHook = hook
        return copy
    }

    /// As one of another kind.
    package func claiming(_ sharing: MemorySharing) -> ObservedFileSystem {
        var copy = self
        copy.claimedSharing = sharing
        return copy
    }

    /// With a hook before each call that takes a descriptor or memory.
    package func onResource(
        _ hook: @escaping @Sendable (_ call: ResourceCall) throws -> Void
    ) -> ObservedFileSystem {
        var copy = self
        copy.resourceHook = hook
        return copy
    }

    /// As a share that says of every lock that it was given.
    package func withoutLocks() -> ObservedFileSystem {
        var copy = self
        copy.keepsLocks = false
        return copy
    }

    package func openDirectory(at path: String, create: Bool) throws -> any Directory {
        ObservedDirectory(
            base: try base.openDirectory(at: path, create: create), hook: hook, readHook: readHook,
            claimedSharing: claimedSharing, keepsLocks: keepsLocks, resourceHook: resourceHook)
    }
}

private struct ObservedDirectory: Directory {
    let base: any Directory
    let hook: ObservedFileSystem.Hook
    let readHook: (@Sendable (String) -> Void)?
    let claimedSharing: MemorySharing?
    let keepsLocks: Bool
    let resourceHook: (@Sendable (ResourceCall) throws -> Void)?

    var path: String { base.path }
    func lock(exclusive: Bool, patience: Duration) throws {
        if keepsLocks { try base.lock(exclusive: exclusive, patience: patience) }
    }
    func unlock() throws { if keepsLocks { try base.unlock() } }
    func noteLeft() { base.noteLeft() }
    func entries() throws -> [DirectoryEntry] {
        try resourceHook?(.list)
        return try base.entries()
    }
    func identity(of name: String) throws -> FileIdentity? { try base.identity(of: name) }
    var sharing: MemorySharing { get throws { try claimedSharing ?? base.sharing } }

    func createFile(_ name: String) throws -> any File {
        try resourceHook?(.create(name))
        try hook(.createFile(name))
        return ObservedFile(
            base: try base.createFile(name), name: name, hook: hook, readHook: readHook,
            keepsLocks: keepsLocks, resourceHook: resourceHook)
    }

    func openFile(_ name: String, writable: Bool) throws -> any File {
        try resourceHook?(.open(name))
        return ObservedFile(
            base: try base.openFile(name, writable: writable), name: name, hook: hook,
            readHook: readHook, keepsLocks: keepsLocks, resourceHook: resourceHook)
    }

    func rename(_ source: String, to target: String) throws {
        try hook(.rename(source, to: target))
        try base.rename(source, to: target)
    }

    func remove(_ name: String) throws {
        try hook(.remove(name))
        try base.remove(name)
    }

    func link(_ name: String, from other: any Directory) throws -> Bool {
        try hook(.link(name))
        let other = other as? ObservedDirectory
        return try base.link(name, from: other?.base ?? self)
    }

    func sync() throws {
        try hook(.syncDirectory)
        try base.sync()
    }

    func syncAncestors() throws {
        try hook(.syncAncestors)
        try base.syncAncestors()
    }
}

private struct ObservedFile: File {
    let base: any File
    let name: String
    let hook: ObservedFileSystem.Hook
    let readHook: (@Sendable (String) -> Void)?
    let keepsLocks: Bool
    let resourceHook: (@Sendable (ResourceCall) throws -> Void)?

    var path: String { base.path }
    func sizeBytes() throws -> UInt64 { try base.sizeBytes() }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws {
        try base.read(into: buffer, at: offset)
    }

    func readUp(to buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
        readHook?(name)
        return try base.readUp(to: buffer, at: offset)
    }

    func holdLock() throws { if keepsLocks { try base.holdLock() } }
    func releaseLock() throws { if keepsLocks { try base.releaseLock() } }
    func isLocked() throws -> Bool { try base.isLocked() }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
        try hook(.write(name))
        try base.write(bytes, at: offset)
    }

    func preallocate(sizeBytes: UInt64) throws {
        try hook(.preallocate(name))
        try base.preallocate(sizeBytes: sizeBytes)
    }

    func truncate(to sizeBytes: UInt64) throws {
        try hook(.truncate(name))
        try base.truncate(to: sizeBytes)
    }

    func writtenEnd() throws -> UInt64 { try base.writtenEnd() }

    func syncData() throws {
        try hook(.syncData(name))
        try base.syncData()
    }

    func map(sizeBytes: Int, writable: Bool) throws -> MappedRegion? {
        try resourceHook?(.map(name))
        return try base.map(sizeBytes: sizeBytes, writable: writable)
    }
}

/// Fails the calls that a test asks for: the `n`th, and if it is a crash every one after it.
package final class FaultPlan: Sendable {
    private let made = Atomic<Int>(0)
    private let failing: Atomic<Int>
    private let isCrash: Bool

    package init(failAt call: Int = .max, isCrash: Bool = true) {
        failing = Atomic(call)
        self.isCrash = isCrash
    }

    /// The changing calls made so far.
    package var callCount: Int { made.load(ordering: .sequentiallyConsistent) }

    /// Lets the next call fail.
    package func failNext() { failing.store(callCount, ordering: .sequentiallyConsistent) }
    package func stopFailing() { failing.store(.max, ordering: .sequentiallyConsistent) }

    package func fileSystem(_ base: any FileSystem = PosixFileSystem()) -> ObservedFileSystem {
        ObservedFileSystem(base) { [self] call in
            let index = made.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue
            let limit = failing.load(ordering: .sequentiallyConsistent)
            if index == limit || (isCrash && index > limit) {
                throw RoostError(.io, "the test let this call fail: \(call)", file: "\(call)")
            }
        }
    }
}
