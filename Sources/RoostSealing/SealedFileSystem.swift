import RoostIO
import Synchronization

/// A file system under a workspace whose files are sealed: below the engine, which sees plain files, and above
/// the real one, which sees sealed ones. docs/decisions/0130.
package final class SealedFileSystem: FileSystem {
    let base: any FileSystem
    /// The user's key of now: the first directory's, and that of every directory which is opened from here on.
    private let current: Mutex<any SealingSuite>
    var suite: any SealingSuite { current.withLock { $0 } }
    /// The engine holds the directory, and its lock goes with it.
    private struct First { weak var directory: SealedDirectory? }
    private let first = Mutex(First())
    /// Held while the user's key becomes another one, of the ring and of `current`: of two calls the ring would
    /// have the key of the one, and what is opened later that of the other.
    private let rotation = Mutex(())

    package let pressure: MemoryPressure

    /// - Parameter openLimitBytes: from how much memory on, that what was read of snapshots takes, it is to be given
    ///   back.
    package init(
        _ base: any FileSystem, _ suite: any SealingSuite, openLimitBytes: Int = 64 << 20
    ) {
        self.base = base
        current = Mutex(suite)
        pressure = MemoryPressure(limitBytes: openLimitBytes)
    }

    /// `body` gives back what was read of snapshots, and then calls what it is given. It is called from the thread
    /// that reads, and must not wait.
    package func whenTooMuchIsOpen(
        _ body: @escaping @Sendable (_ done: @escaping @Sendable () -> Void) -> Void
    ) {
        pressure.setRelief(body)
    }

    package func openDirectory(at path: String, create: Bool) throws -> any Directory {
        let directory = SealedDirectory(
            try base.openDirectory(at: path, create: create), self)
        first.withLock { if $0.directory == nil { $0.directory = directory } }
        return directory
    }

    package func removeDirectory(at path: String) throws {
        let directory = try base.openDirectory(at: path, create: false)
        for name in [KeyRing.fileName, KeyRing.newFileName]
        where try directory.entries().contains(where: { $0.name == name }) {
            try directory.remove(name)
        }
        try base.removeDirectory(at: path)
    }

    package var scheduling: any Scheduling { base.scheduling }

    /// The ring of the directory that was opened first, and the user's key, unless that is `directory`: both of before a
    /// change of the key, or both of after it.
    func firstKeys(
        besides directory: SealedDirectory
    ) -> (ring: KeyRing, suite: any SealingSuite)? {
        // A change of the key waits for the first one's ring, which may be being made: so that one is not to wait for
        // the change.
        guard let first = first.withLock({ $0.directory }), first !== directory else { return nil }
        return rotation.withLock { _ in first.knownRing.map { (ring: $0, suite: suite) } }
    }

    /// Seals the ring of the directory that was opened first under another key, and has its new files sealed
    /// under a new data key; backups from here on have that key as well. Blocks for two syncs, and for what deriving the key takes.
    package func rotate(to suite: any SealingSuite) throws {
        guard let first = first.withLock({ $0.directory }) else {
            preconditionFailure("a workspace has opened its directory")
        }
        try rotation.withLock { _ in
            try first.rotate(to: suite)
            current.withLock { $0 = suite }
        }
    }
}
