import RoostIO
import RoostSealing

/// How a workspace's files are encrypted, and with which key. Made by the product `RoostEncryption`, with the
/// trait `Encryption`: `.key(…)`, `.passphrase(…)`.
///
/// Names, keys and values are sealed in every file, the log, snapshots, the manifest, what recovery sets
/// aside, and backups; what shows is sizes and times. See docs/ENCRYPTION.md.
public struct WorkspaceEncryption: Sendable {
    package let suite: any SealingSuite

    package init(_ suite: any SealingSuite) { self.suite = suite }
}

extension Workspace {
    /// Whether the workspace was opened with ``Configuration/encryption``.
    public var isEncrypted: Bool { fileSystem is SealedFileSystem }

    /// Has another key open the workspace from now on, in the place of the one that it was opened with, while it
    /// is in use. What is written from here on is sealed under a new data key, in the current log segment too; what
    /// was written before stays as it is, and is sealed anew when compaction rewrites it: `compact()` does
    /// that for all of it.
    ///
    /// The key itself only seals the file of data keys, so this writes that file and no other. Backups that begin
    /// after it open with the new key, as do those of which no file was written yet; those that were begun before keep
    /// theirs. Suspends.
    ///
    /// - Throws: `.wrongKey` where the workspace is not encrypted; what making the key throws; `.io`,
    ///   `.outOfSpace`, and then either key may open it; `.io` after 10,000 changes, with nothing changed;
    ///   `.readOnly`, `.closed`.
    public func rotateKey(to encryption: WorkspaceEncryption) async throws {
        try engine.checkOpen()
        guard engine.isWritable else {
            throw RoostError(.readOnly, "the workspace was opened for reading only")
        }
        guard let sealed = fileSystem as? SealedFileSystem else {
            throw RoostError(.wrongKey, "the workspace is not encrypted", file: path)
        }
        let thread = fileSystem.scheduling.thread(named: "roost-keys")
        try await KeyThread(thread: thread).rotate(sealed, to: encryption.suite)
    }
}

/// A thread for deriving keys and writing them, as that blocks.
private actor KeyThread {
    private let thread: WorkerThread

    init(thread: WorkerThread) { self.thread = thread }

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    func rotate(_ fileSystem: SealedFileSystem, to suite: any SealingSuite) throws {
        try fileSystem.rotate(to: suite)
    }
}
