import Foundation
import RoostEngine
import RoostFormat
import RoostIO

#if canImport(System)
    import System
#else
    import SystemPackage
#endif

/// One open directory of dictionaries: the unit of locking, of durability and of atomic writes.
///
/// One process owns a workspace at a time; a second opening, in the same process or another, is
/// `.locked`. All calls may be made from any thread and any actor.
///
/// ```swift
/// let workspace = try await Workspace.open(at: "/var/lib/app/data")
/// let settings = workspace.dictionary("settings")
/// try await settings.set(0.8, forKey: "volume")
/// let volume = try settings["volume", default: 0.5]
/// try await workspace.close()
/// ```
public final class Workspace: Sendable {
    package let engine: Engine
    let coder: ValueCoder
    let loads = LoadCoalescer()
    let migrations: MigrationRegistry

    /// The path that the workspace was opened at.
    public let path: String

    private init(
        engine: Engine, configuration: Configuration, migrations: MigrationRegistry, path: String
    ) {
        self.engine = engine
        self.migrations = migrations
        self.path = path
        coder = configuration.coder
    }

    /// Opens the workspace in the directory at `path`; creates it, with mode 0700, where there
    /// is none, unless `configuration` asks for reading only.
    ///
    /// Reads no key and no value of cold storage: the cost follows what was written since the
    /// last flush, not the size of the store. A torn tail that a crash left is cut, kept aside,
    /// and reported in ``recovery``.
    ///
    /// - Throws: `.locked` while another opening is active; `.corrupt` where bytes that were on
    ///   disk are damaged, with file and offset, and nothing is changed; `.unsupportedVersion`;
    ///   `.outOfSpace`; `.io`.
    public static func open(
        at path: String, configuration: Configuration = .init()
    ) async throws -> Workspace {
        try await open(at: path, configuration: configuration, fileSystem: PosixFileSystem())
    }

    /// As ``open(at:configuration:)``, for a file URL.
    public static func open(
        at url: URL, configuration: Configuration = .init()
    ) async throws -> Workspace {
        guard url.isFileURL else {
            throw RoostError(.io, "not a file URL: \(url.absoluteString)")
        }
        return try await open(at: url.path, configuration: configuration)
    }

    /// As ``open(at:configuration:)``, for a `FilePath`.
    public static func open(
        at path: FilePath, configuration: Configuration = .init()
    ) async throws -> Workspace {
        try await open(at: path.string, configuration: configuration)
    }

    /// A workspace without files that behaves as one with them, for tests and previews. It ends
    /// with its last reference; durability is then only a word, but every call waits as it would.
    public static func inMemory(configuration: Configuration = .init()) async throws -> Workspace {
        try await open(
            at: "(in memory)", configuration: configuration, fileSystem: MemoryFileSystem())
    }

    /// `adjust` may set what the public configuration derives, such as when flushes begin.
    package static func open(
        at path: String, configuration: Configuration, fileSystem: any FileSystem,
        adjusting adjust: (inout EngineConfiguration) -> Void = { _ in }
    ) async throws -> Workspace {
        var engineConfiguration = configuration.engineConfiguration
        let migrations = MigrationRegistry()
        engineConfiguration.rewriter = migrations
        adjust(&engineConfiguration)
        let engine = try await Engine.open(
            at: path, fileSystem: fileSystem, configuration: engineConfiguration)
        return Workspace(
            engine: engine, configuration: configuration, migrations: migrations, path: path)
    }

    /// What the opening found: how much was replayed, what was cut and set aside.
    public var recovery: RecoveryReport { engine.recovery }

    /// Sizes, counts and rates at this moment. Does not suspend.
    public var statistics: WorkspaceStatistics { engine.statistics }

    /// The dictionary called `name`: a key space of its own. Any name up to 255 UTF-8 bytes;
    /// names are compared by their bytes. Costs nothing and touches nothing: a dictionary is
    /// there once it has a key.
    public func dictionary(_ name: String) -> WorkspaceDictionary {
        WorkspaceDictionary(workspace: self, name: name, coder: coder)
    }

    /// The dictionary called `name`, whose `Codable` values are written with `coder` through
    /// what is returned. Reading needs no choice: stored bytes name their coder.
    public func dictionary(_ name: String, coder: ValueCoder) -> WorkspaceDictionary {
        WorkspaceDictionary(workspace: self, name: name, coder: coder)
    }

    /// The names of the dictionaries that have at least one key, in the order of their bytes.
    /// Costs a look-up per dictionary in each snapshot, and a sort of the keys in the log.
    public var dictionaryNames: [String] {
        get throws {
            try engine.view().dictionaryNames().map { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// Commits everything that `body` adds to the batch at once: the changes survive together,
    /// and no reader sees part of them. Reads nothing; later operations on a key win. `body`
    /// runs on the caller's actor, so it may use what the caller may.
    ///
    /// - Parameter durability: what has survived when the call returns; the workspace's where
    ///   it is `nil`.
    /// - Throws: what `body` throws, or the first error of an operation in it (`.keyTooLarge`,
    ///   `.valueTooLarge`, `.encodingFailed`); then nothing is changed.
    public nonisolated(nonsending) func write<Result: Sendable>(
        durability: Durability? = nil, _ body: (inout WriteBatch) throws -> Result
    ) async throws -> Result {
        var batch = WriteBatch(workspace: self)
        let result = try body(&batch)
        try checkCancellation()
        _ = try await engine.commit(batch.encoded, durability: durability)
        return result
    }

    /// Returns once everything written or enqueued before the call is on disk.
    ///
    /// - Throws: What an enqueued write failed with that nobody was told yet, the first where
    ///   there are several; `.poisoned`, `.readOnly`, `.closed`.
    public func synchronize() async throws { try await engine.synchronize() }

    /// Moves the log into snapshots and merges each shard's snapshots into one, so that opening
    /// replays nothing and overwritten values take no space. Readers and writers go on
    /// meanwhile. Costs reading and writing the whole store; the engine does as much as is
    /// worth while by itself.
    public func compact() async throws { try await engine.compact() }

    /// Reads every file and checks every checksum. Damage is in the report, not thrown; readers
    /// and writers go on meanwhile.
    public func verify() async throws -> VerificationReport { try await engine.verify() }

    /// Brings everything to disk and gives the directory back. Calls under way may complete or
    /// throw `.closed`; later ones throw `.closed`. Closing twice is no error. What was enqueued
    /// is written; where some of that failed and nobody was told yet, this throws it once all is
    /// closed.
    ///
    /// A process that ends without closing loses nothing that was acknowledged; its next
    /// opening replays the log.
    public func close() async throws { try await engine.close() }
}

/// Throws `.cancelled` where the task is, so that a cancelled call changes nothing.
@inline(__always)
func checkCancellation() throws {
    if Task.isCancelled {
        throw RoostError(.cancelled, "the task was cancelled before the call took effect")
    }
}
