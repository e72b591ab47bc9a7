import Foundation
import RoostEngine
import RoostFormat
import RoostIO
import RoostSealing

#if canImport(System)
    import System
#else
    import SystemPackage
#endif

/// One open directory of dictionaries: the unit of locking, of durability and of atomic writes.
///
/// One opening writes to a workspace at a time; a second one, in the same process or another, is
/// `.locked`, until ``close()`` or, a moment later, until nobody refers to the workspace any more. Others may read beside it (``Configuration/Access/readOnly``). All calls may be made from any thread and any actor.
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
    let indexNumbers = IndexNumbers()
    let objectIndexes = ObjectIndexRegistry()
    let repositoryOwners = RepositoryOwners()
    let live = LiveRegistry()
    let readWatches = ReadWatches()
    let backgroundWrites = BackgroundWrites()
    /// As it was opened on: its backups go there too.
    let fileSystem: any FileSystem

    /// Random, and so another at each opening of the directory.
    package let openingNumber = UInt64.random(in: 0..<1 << 62)

    /// The path that the workspace was opened at.
    public let path: String

    private init(
        engine: Engine, configuration: Configuration, migrations: MigrationRegistry, path: String,
        fileSystem: any FileSystem
    ) {
        self.engine = engine
        self.migrations = migrations
        self.path = path
        coder = configuration.coder
        self.fileSystem = fileSystem
        guard let sealed = fileSystem as? SealedFileSystem else { return }
        sealed.whenTooMuchIsOpen { [weak engine] done in
            engine.map { $0.releaseColdMemory(done) } ?? done()
        }
    }

    deinit {
        backgroundWrites.noteLeft()
        // What works in the background holds the directory a moment longer.
        if !engine.isClosed { engine.directory.noteLeft() }
    }

    /// Opens the workspace in the directory at `path`; creates it, with mode 0700, where there
    /// is none, unless `configuration` asks for reading only.
    ///
    /// Reads no key and no value of cold storage: the cost follows what was written since the
    /// last flush, not the size of the store. A torn tail that a crash left is cut, kept aside,
    /// and reported in ``recovery``.
    ///
    /// - Throws: `.locked` while another opening for writing is active; `.corrupt` where bytes that were on
    ///   disk are damaged, with file and offset, and nothing is changed; `.unsupportedVersion`; `.wrongKey`;
    ///   `.readOnly` where it is to be written to and follows a copy, so that it has to be promoted first;
    ///   `.outOfSpace`; `.io`, also where the directory would be made inside another workspace's.
    public static func open(
        at path: String, configuration: Configuration = .init()
    ) async throws -> Workspace {
        try await open(at: path, configuration: configuration, fileSystem: configuration.fileSystem)
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

    // MARK: Opening without suspending

    /// Opens the workspace in the directory at `path` without suspending: for an initializer, a
    /// `static let`, or the main actor. Else as ``open(at:configuration:)-(String,_)``, with the same
    /// errors.
    ///
    /// ```swift
    /// enum Storage {
    ///     static let workspace = Result { try Workspace(at: "/var/lib/app/data") }
    /// }
    /// ```
    ///
    /// It works on the caller's thread, and reads what opening needs and no more: the manifest, a
    /// header and a footer of each snapshot, and the log after the last flush. After ``close()``
    /// there is no log, and an opening takes about a millisecond, whatever the size of the store.
    /// After a crash it replays at most what the log holds: usually up to twice the memory budget, 128 MiB
    /// by default, some tenths of a second; after a crash while writers brought more than flushes took, up
    /// to four times that. Where even that is too long for the thread, as for a
    /// main actor that draws, or where it is one of the cooperative pool's, `await` `open` instead.
    public convenience init(at path: String, configuration: Configuration = .init()) throws {
        try self.init(at: path, configuration: configuration, fileSystem: configuration.fileSystem)
    }

    /// As ``init(at:configuration:)-(String,_)``, for a file URL.
    public convenience init(at url: URL, configuration: Configuration = .init()) throws {
        guard url.isFileURL else {
            throw RoostError(.io, "not a file URL: \(url.absoluteString)")
        }
        try self.init(at: url.path, configuration: configuration)
    }

    /// As ``init(at:configuration:)-(String,_)``, for a `FilePath`.
    public convenience init(at path: FilePath, configuration: Configuration = .init()) throws {
        try self.init(at: path.string, configuration: configuration)
    }

    private convenience init(
        at path: String, configuration: Configuration, fileSystem: any FileSystem
    ) throws {
        let migrations = MigrationRegistry()
        var engineConfiguration = try configuration.engineConfiguration()
        engineConfiguration.rewriter = migrations
        let engine = try Engine.openBlocking(
            at: path, fileSystem: fileSystem, configuration: engineConfiguration)
        if engine.isWritable { try IndexCatalog.guardAtOpening(engine) }
        self.init(
            engine: engine, configuration: configuration, migrations: migrations, path: path,
            fileSystem: fileSystem)
    }

    /// A workspace without files that behaves as one with them, for tests and previews. It ends
    /// with its last reference; durability is then only a word, but every call waits as it would.
    ///
    /// - Throws: `.io` where `configuration` asks for reading only, as there is nothing to read.
    public static func inMemory(configuration: Configuration = .init()) async throws -> Workspace {
        try await open(
            at: "(in memory)", configuration: configuration, fileSystem: MemoryFileSystem())
    }

    /// As ``inMemory(configuration:)``, without suspending: for a preview, a `static let`, a test's `setUp()`.
    ///
    /// ```swift
    /// let workspace = try Workspace(inMemory: .init())
    /// ```
    ///
    /// - Throws: as ``inMemory(configuration:)``.
    public convenience init(inMemory configuration: Configuration) throws {
        try self.init(
            at: "(in memory)", configuration: configuration, fileSystem: MemoryFileSystem())
    }

    /// `adjust` may set what the public configuration derives, such as when flushes begin.
    package static func open(
        at path: String, configuration: Configuration, fileSystem: any FileSystem,
        adjusting adjust: (inout EngineConfiguration) -> Void = { _ in }
    ) async throws -> Workspace {
        var engineConfiguration = try configuration.engineConfiguration()
        let migrations = MigrationRegistry()
        engineConfiguration.rewriter = migrations
        adjust(&engineConfiguration)
        let engine = try await Engine.open(
            at: path, fileSystem: fileSystem, configuration: engineConfiguration)
        if engine.isWritable { try IndexCatalog.guardAtOpening(engine) }
        return Workspace(
            engine: engine, configuration: configuration, migrations: migrations, path: path,
            fileSystem: fileSystem)
    }

    /// Takes writes from here on, where the workspace was opened to mirror another.
    package func endMirroring() throws {
        try IndexCatalog.guardAtOpening(engine)
        engine.endMirroring()
    }

    /// What the opening found: how much was replayed, what was cut and set aside.
    public var recovery: RecoveryReport { engine.recovery }

    /// Whether ``close()`` was called. Does not suspend.
    public var isClosed: Bool { engine.isClosed }

    /// Sizes, counts and rates at this moment. Does not suspend.
    public var statistics: WorkspaceStatistics {
        var figures = engine.statistics
        figures.liveQueryCount = live.queryCount
        return figures
    }

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
    /// Costs a look-up per dictionary in each snapshot, and a sort of the keys in the log. Does not suspend.
    ///
    /// - Throws: `.corrupt`, `.io`, `.closed`.
    public var dictionaryNames: [String] {
        get throws {
            try engine.view().dictionaryNames().map { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// Commits everything that `body` adds to the batch at once: the changes survive together,
    /// and no reader sees part of them. Reads nothing; later operations on a key win. `body`
    /// runs on the caller's actor, so it may use what the caller may.
    ///
    /// - Parameters:
    ///   - durability: what has survived when the call returns; the workspace's where it is `nil`.
    ///   - body: what adds the changes; it runs once.
    /// - Throws: what `body` throws, or the first error of an operation in it (`.keyTooLarge`,
    ///   `.valueTooLarge`, `.encodingFailed`); then nothing is changed. Else as `set(_:forKey:durability:)`.
    @discardableResult
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
    /// What an ``ObservedRepository`` has taken waits for the unique indexes of its type, and so does this: for as
    /// long as others write the same dictionary by its keys and take them away.
    ///
    /// - Throws: What an enqueued write failed with that nobody was told yet, the first where
    ///   there are several; `.poisoned`, `.closed`. Where the workspace is open for reading only there is nothing to
    ///   bring to disk.
    public func synchronize() async throws {
        await backgroundWrites.made()
        try await engine.synchronize()
    }

    /// Moves the log into snapshots and merges all snapshots, so that opening
    /// replays nothing and overwritten values take no space. Readers and writers go on
    /// meanwhile. Costs reading and writing the whole store; the engine does as much as is
    /// worth while by itself.
    ///
    /// - Throws: `.closed`, `.readOnly`, `.poisoned`; `.corrupt`, `.io` and `.outOfSpace` where a file cannot
    ///   be read or written, and then all values stay as they are.
    public func compact() async throws { try await engine.compact() }

    /// Reads every file and checks every checksum. Damage is in the report, not thrown. The files are those of the
    /// call's moment; readers, writers and compaction go on meanwhile, and what compaction replaces keeps its space on disk
    /// until this ends.
    ///
    /// - Parameter onProgress: Called now and then, on a thread of its own, which it holds up.
    /// - Throws: `.closed`, also where the workspace is closed meanwhile, which does not wait for this; `.cancelled` where the
    ///   task is cancelled; `.outOfSpace`, `.io` and `.poisoned` where no new segment of the log can be begun.
    public func verify(
        onProgress: (@Sendable (VerificationProgress) -> Void)? = nil
    ) async throws -> VerificationReport { try await engine.verify(onProgress) }

    /// Brings everything to disk and gives the directory back. Calls under way may complete or
    /// throw `.closed`; later ones throw `.closed`. Closing twice is no error. What was enqueued
    /// is written; where some of that failed and nobody was told yet, this throws it once all is
    /// closed. What an ``ObservedRepository`` has taken is written too, after the building of a unique index
    /// where one is under way; an index that others take away again meanwhile is not waited for.
    ///
    /// A process that ends without closing loses nothing that was acknowledged; its next
    /// opening replays the log.
    ///
    /// - Throws: what an enqueued write failed with that nobody was told yet; `.poisoned` where the last sync fails, or an earlier
    ///   one has failed behind what was acknowledged and no call was told yet;
    ///   `.io` and `.outOfSpace` where the files cannot be left in order, and the next opening then replays the log.
    ///   The workspace is closed in any case; a second call throws the same.
    public func close() async throws {
        backgroundWrites.beginClosing()
        await backgroundWrites.made()
        try await engine.close()
    }
}

/// Throws `.cancelled` where the task is, so that a cancelled call changes nothing.
@inline(__always)
func checkCancellation() throws {
    if Task.isCancelled {
        throw RoostError(.cancelled, "the task was cancelled before the call took effect")
    }
}
