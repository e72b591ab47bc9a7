import Foundation
import RoostEngine
import RoostFormat
import RoostIO
import RoostSnapshot

/// A directory of backups of one workspace, each a directory of its own, a *generation*.
///
/// - One writer at a time: the series is locked by a lock on its directory.
/// - `incomplete` is the next generation until it is whole. NAME.removed is an old one that is being removed.
/// - A generation is removed once a newer one is on disk and checked, and never the newest.
struct BackupSeries {
    let directory: any Directory
    let fileSystem: any FileSystem
    /// The oldest first.
    private(set) var generations: [BackupGeneration] = []
    /// Of the newest that can be read.
    private var newest: (generation: BackupGeneration, manifest: ManifestRecord)?

    static let incompleteName = "incomplete"
    private static let removedSuffix = ".removed"

    init(at path: String, _ fileSystem: any FileSystem, create: Bool) throws {
        let place = URL(fileURLWithPath: path).standardizedFileURL.path
        directory =
            create
            ? try fileSystem.openOrMakeDirectory(at: place)
            : try fileSystem.openDirectory(at: place, create: false)
        self.fileSystem = fileSystem
    }

    /// Takes no lock: a writer beside it may remove old generations meanwhile, and of those none is there.
    mutating func read() throws {
        let listed = try directory.entries()
            .compactMap { BackupGeneration(name: $0.name, in: directory.path) }
            .sorted { $0.number < $1.number }
        generations = []
        var earlier: ManifestRecord?
        for var generation in listed {
            let manifest = generation.read(fileSystem, after: earlier)
            // One that is gone is no damage, and what the next one shares is shared with the one before it.
            if generation.problem != nil, try !isThere(generation) { continue }
            generations.append(generation)
            if let manifest { newest = (generation, manifest) }
            earlier = manifest
        }
    }

    private func isThere(_ generation: BackupGeneration) throws -> Bool {
        let name = URL(fileURLWithPath: generation.path).lastPathComponent
        return try directory.entries().contains { $0.name == name }
    }

    /// The newest generation, whose snapshots the next one may share.
    ///
    /// - Throws: `.io` where the series is of another workspace: its generations would be removed as old
    ///   ones of this.
    func shared(with workspace: WorkspaceIdentifier) throws -> (any Directory)? {
        guard let newest else {
            if generations.contains(where: { $0.problem?.code == .wrongKey }) {
                throw RoostError(
                    .wrongKey,
                    "no backup here opens with this workspace's keys: give each workspace a directory of its own",
                    file: directory.path)
            }
            return nil
        }
        guard newest.manifest.workspace == workspace else {
            throw RoostError(
                .io, "the backups here are of another workspace: give each a directory of its own",
                file: directory.path)
        }
        return try fileSystem.openDirectory(at: newest.generation.path, create: false)
    }

    func nextName(milliseconds: UInt64) -> String {
        BackupGeneration.name(
            number: (generations.last?.number ?? 0) + 1, milliseconds: milliseconds)
    }

    /// Removes what `retention` does not keep, and what a removal that was stopped has left; the paths
    /// of those that are gone. One that somebody has open for writing stays, until the next time.
    ///
    /// - Throws: what the first removal failed with, once all others are made: else one that cannot be removed would keep
    ///   all that come after it, until the disk is full.
    func remove(by retention: BackupRetention) throws -> [String] {
        var removed: [String] = []
        var failure: (any Error)?
        for generation in retention.removed(of: generations) {
            do {
                if try beginRemoving(generation) { removed.append(generation.path) }
            } catch { failure = failure ?? error }
        }
        if !removed.isEmpty { try directory.sync() }
        for entry in try directory.entries() where entry.name.hasSuffix(Self.removedSuffix) {
            let name = String(entry.name.dropLast(Self.removedSuffix.count))
            guard BackupGeneration(name: name, in: directory.path) != nil else { continue }
            do { try removeFiles(at: "\(directory.path)/\(entry.name)") } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return removed
    }

    /// Gives a generation the name of one that is being removed; `false` where somebody has it open for writing.
    private func beginRemoving(_ generation: BackupGeneration) throws -> Bool {
        let name = URL(fileURLWithPath: generation.path).lastPathComponent
        let held = try fileSystem.openDirectory(at: generation.path, create: false)
        do { try held.lock(exclusive: true) } catch let error as RoostError
            where error.code == .locked
        { return false }
        try withExtendedLifetime(held) {
            try directory.rename(name, to: name + Self.removedSuffix)
        }
        return true
    }

    /// No file that is not a workspace's: the directory then stays, with that file.
    private func removeFiles(at path: String) throws {
        let removed = try fileSystem.openDirectory(at: path, create: false)
        let entries = try removed.entries()
        for entry in entries where FileName(entry.name) != nil && entry.isRegularFile {
            try removed.remove(entry.name)
        }
        if entries.allSatisfy({ FileName($0.name) != nil && $0.isRegularFile }) {
            try fileSystem.removeDirectory(at: path)
        }
    }
}

extension Workspace {
    /// Adds a backup to the series of backups in the directory at `path`, which is made where there is
    /// none: a *generation*, a directory with a number and the time for its name, and a workspace. Removes
    /// those that `retention` does not keep, once the new one is on disk and checked.
    ///
    /// As ``backup(to:after:verifyingShared:)-(String,_,_)`` after the newest of the series, with its costs: a series of a
    /// store of which a hundredth changes between two backups takes the store's size and a hundredth for
    /// each generation more.
    ///
    /// - Throws: as that, and `.io` where the series is of another workspace, `.wrongKey` where it is of
    ///   encrypted ones that this one's keys do not open, `.locked` while another call adds to it. Also what the removal of
    ///   an old one failed with, once the others are gone: the new one is on disk and checked all the same, and the next
    ///   call removes what is left.
    @discardableResult
    public func backup(
        toSeries path: String, keeping retention: BackupRetention = .newest(7),
        verifyingShared: Bool = false
    ) async throws -> BackupReport {
        try await backup(
            toSeries: path, keeping: retention, verifyingShared: verifyingShared
        ) { _, _ in }
    }

    /// As ``backup(toSeries:keeping:verifyingShared:)-(String,_,_)``, for file URLs.
    @discardableResult
    public func backup(
        toSeries url: URL, keeping retention: BackupRetention = .newest(7),
        verifyingShared: Bool = false
    ) async throws -> BackupReport {
        try await backup(
            toSeries: Self.path(of: url), keeping: retention, verifyingShared: verifyingShared)
    }

    /// As ``backup(toSeries:keeping:verifyingShared:)-(String,_,_)``; `progress` is told how many bytes are done, and of how many.
    package func backup(
        toSeries path: String, keeping retention: BackupRetention, verifyingShared: Bool = false,
        _ progress: @escaping @Sendable (_ doneBytes: UInt64, _ sizeBytes: UInt64) -> Void
    ) async throws -> BackupReport {
        try engine.checkOpen()
        let fileSystem = backupFileSystem
        var series = try BackupSeries(at: path, fileSystem, create: true)
        do { try series.directory.lock(exclusive: true) } catch var error as RoostError
            where error.code == .locked
        {
            error.message =
                "another backup is being added to this series, or a workspace in this directory is open"
            throw error
        }
        defer { withExtendedLifetime(series) {} }
        try series.read()
        let shared = try series.shared(with: engine.workspaceIdentifier)
        let name = series.nextName(milliseconds: engine.clock.milliseconds)
        var report = try await backup(
            to: name, by: BackupSeries.incompleteName, in: series.directory, sharing: shared,
            verifyingShared: verifyingShared, fileSystem, progress)
        try series.read()
        report.removedPaths = try series.remove(by: retention)
        try series.directory.unlock()
        return report
    }

    /// The backups of the series in the directory at `path`, the oldest first. Reads their manifests and
    /// no more: ``Workspace/verify(onProgress:)`` of one that was opened reads it all. Blocks for that.
    ///
    /// - Throws: `.io` where there is no such directory. A backup that cannot be read is in the list, with
    ///   its ``BackupGeneration/problem``; so is one that another key than `encryption` opens. One that is removed
    ///   meanwhile, as a backup beside this call does with those that are not kept, is not.
    public static func backups(
        inSeries path: String, encryption: WorkspaceEncryption? = nil
    ) throws -> [BackupGeneration] {
        try backups(
            inSeries: path, fileSystem: Configuration(encryption: encryption).fileSystem)
    }

    /// As ``backups(inSeries:encryption:)-(String,_)``, on a file system of the caller's.
    package static func backups(
        inSeries path: String, fileSystem: any FileSystem
    ) throws -> [BackupGeneration] {
        var series = try BackupSeries(at: path, fileSystem, create: false)
        try series.read()
        return series.generations
    }

    /// As ``backups(inSeries:encryption:)-(String,_)``, for file URLs.
    public static func backups(
        inSeries url: URL, encryption: WorkspaceEncryption? = nil
    ) throws -> [BackupGeneration] {
        try backups(inSeries: path(of: url), encryption: encryption)
    }
}
