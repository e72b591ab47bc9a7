import Foundation
import RoostEngine
import RoostFormat
import RoostIO
import RoostSealing

extension Workspace {
    /// Copies all that the workspace holds at one moment, in the call, into a new workspace at
    /// `path`, which is on disk, read back and closed when the call returns. Readers and writers go
    /// on meanwhile. Batches are in it whole or not at all; values keep their deadlines and versions.
    ///
    /// Until it is complete the copy is called `path` with `.incomplete` after it: `path` itself
    /// is there whole or not at all. What a call that failed, was cancelled or killed has copied and
    /// checked by then, the next one to the same path goes on from.
    ///
    /// With `earlier`, an earlier backup of this workspace on the same file system, what has not changed
    /// since is shared with it by hard links, so that only what is new is read and written. Either may be
    /// removed, and either may be opened. Damage of a shared file damages both: keep another backup
    /// elsewhere. A backup that is given no earlier one shares nothing, with the workspace neither.
    ///
    /// Costs a flush, and reading and writing what is copied, and reading that again; every checksum of
    /// it is checked. What is shared is not read, unless `verifyingShared` is `true`: then it is read and checked before,
    /// and a file of the earlier backup that is damaged is copied from here instead, and is in
    /// `BackupReport.damagedPaths`. ``Workspace/verify(onProgress:)`` of the backup reads all of it later.
    ///
    /// - Throws: `.io` where there is something at `path`, or that cannot be written, or is inside a workspace;
    ///   `.outOfSpace`; `.corrupt` where this workspace is damaged; `.locked` while another backup
    ///   to `path` is under way; `.cancelled`; `.closed`.
    @discardableResult
    public func backup(
        to path: String, after earlier: String? = nil, verifyingShared: Bool = false
    ) async throws -> BackupReport {
        try await backup(to: path, after: earlier, verifyingShared: verifyingShared) { _, _ in }
    }

    /// As ``backup(to:after:verifyingShared:)-(String,_,_)``, for file URLs.
    @discardableResult
    public func backup(
        to url: URL, after earlier: URL? = nil, verifyingShared: Bool = false
    ) async throws -> BackupReport {
        try await backup(
            to: Self.path(of: url), after: earlier.map { try Self.path(of: $0) },
            verifyingShared: verifyingShared)
    }

    static func path(of url: URL) throws -> String {
        guard url.isFileURL else {
            throw RoostError(.io, "not a file URL: \(url.absoluteString)")
        }
        return url.path
    }

    /// As ``backup(to:after:verifyingShared:)-(String,_,_)``; `progress` is told how many bytes are done, and of how many.
    @discardableResult
    package func backup(
        to path: String, after earlier: String? = nil, verifyingShared: Bool = false,
        _ progress: @escaping @Sendable (_ doneBytes: UInt64, _ sizeBytes: UInt64) -> Void
    ) async throws -> BackupReport {
        try engine.checkOpen()
        let place = URL(fileURLWithPath: path).standardizedFileURL
        let parentPath = place.deletingLastPathComponent().path
        let fileSystem = backupFileSystem
        let parent = try fileSystem.openOrMakeDirectory(at: parentPath)
        let shared = try earlier.map { try fileSystem.openDirectory(at: $0, create: false) }
        return try await backup(
            to: place.lastPathComponent, by: "\(place.lastPathComponent).incomplete", in: parent,
            sharing: shared, verifyingShared: verifyingShared, fileSystem, progress)
    }

    /// Makes the directory `name` in `parent`, called `incomplete` until it is whole.
    func backup(
        to name: String, by incomplete: String, in parent: any Directory,
        sharing earlier: (any Directory)?, verifyingShared: Bool, _ fileSystem: any FileSystem,
        _ progress: @escaping @Sendable (UInt64, UInt64) -> Void
    ) async throws -> BackupReport {
        let begin = ContinuousClock.now
        try refuseBackup(over: name, in: parent)
        let target = try fileSystem.openOrMakeDirectory(at: "\(parent.path)/\(incomplete)")
        try target.lock(exclusive: true)
        var report: BackupReport
        do {
            // Whoever had the lock may have given this directory its name: it is a backup by now.
            try refuseBackup(over: name, in: parent)
            report = try await engine.backup(
                to: target, sharing: earlier, verifiesShared: verifyingShared,
                on: fileSystem.scheduling.backgroundThread(named: "roost-backup"),
                progress: progress)
            try parent.rename(incomplete, to: name)
            try parent.sync()
        } catch {
            // The lock goes with the directory's last reference at the latest.
            try? target.unlock()
            throw error
        }
        try target.unlock()
        report.path = "\(parent.path)/\(name)"
        // Under that name, and not before it has it.
        engine.configuration.observer?.backedUp(report, after: ContinuousClock.now - begin)
        return report
    }

    private func refuseBackup(over name: String, in parent: any Directory) throws {
        guard try !parent.entries().contains(where: { $0.name == name }) else {
            throw RoostError(
                .io, "there is something here already: back up to a new path",
                file: "\(parent.path)/\(name)")
        }
    }

    /// Where backups go: to files, of a workspace in memory too, and encrypted as the workspace is.
    var backupFileSystem: any FileSystem {
        fileSystem is PosixFileSystem || fileSystem is SealedFileSystem
            ? fileSystem : PosixFileSystem()
    }
}
