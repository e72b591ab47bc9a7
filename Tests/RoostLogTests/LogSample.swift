import RoostFormat
import RoostIO
import RoostLog

/// A log in a directory as the engine keeps one, without the engine.
struct SampleLog {
    static let workspace = WorkspaceIdentifier(first: 11, second: 22)
    static let minimumCallSizeBytes = 500
    static let minimumUnawaitedCallSizeBytes = 900

    let directory: any Directory
    let writer: LogWriter
    let syncer: LogSyncer
    /// Asked by tests; the writer itself asks it only where `makesReady`.
    let ahead = LogAhead(scheduling: SystemScheduling())

    /// Begins the first segment, or with `recovered` the one after what was there.
    init(
        at path: String, fileSystem: any FileSystem = PosixFileSystem(), sizeBytes: Int = 8192,
        minimumSegmentSizeBytes: Int = 1 << 20,
        recovered: LogRecovery? = nil, makesReady: Bool = false, number: UInt64? = nil
    ) throws {
        directory = try fileSystem.openDirectory(at: path, create: false)
        writer = try LogWriter(
            directory: directory, workspace: Self.workspace,
            number: number ?? (recovered?.highestNumber ?? 0) + 1, sizeBytes: sizeBytes,
            lastSequence: recovered?.lastSequence ?? 0,
            durableSequence: recovered?.durableSequence ?? 0,
            minimumSegmentSizeBytes: minimumSegmentSizeBytes,
            minimumCallSizeBytes: Self.minimumCallSizeBytes,
            minimumUnawaitedCallSizeBytes: Self.minimumUnawaitedCallSizeBytes,
            earlierSegments: recovered?.earlierSegments ?? [],
            ahead: makesReady ? ahead : nil)
        syncer = LogSyncer(log: writer, thread: WorkerThread(name: "test-sync")) { _ in }
    }

    func prepareStandby() async throws { try await ahead.prepareStandby(of: writer) }

    /// Appends one frame whose payload is `bytes`.
    @discardableResult
    func append(_ bytes: [UInt8], isAwaited: Bool = false) throws -> LogWriter.Appended {
        try bytes.withUnsafeBytes { try writer.append($0, flags: isAwaited ? .synced : []) }
    }
}

/// What a recovery of the directory at `path` finds, as the engine would run it.
struct SampleRecovery {
    var recovery: LogRecovery
    var payloads: [[UInt8]] = []

    init(
        at path: String, fileSystem: any FileSystem = PosixFileSystem(), cuts: Bool = true,
        durableSequence: UInt64 = 0, flushedSequence: UInt64 = 0, firstSegment: UInt64 = 1
    ) throws {
        let directory = try fileSystem.openDirectory(at: path, create: false)
        var manifest = ManifestRecord(
            workspace: SampleLog.workspace, hashSeed: .init(first: 0, second: 0))
        manifest.durableSequence = durableSequence
        manifest.flushedSequence = flushedSequence
        manifest.firstSegment = firstSegment
        let numbers = try directory.entries().compactMap { entry -> UInt64? in
            if case .segment(let number) = FileName(entry.name) { number } else { nil }
        }
        var found: [[UInt8]] = []
        recovery = try LogRecovery(
            segmentNumbers: numbers, manifest: manifest, directory: directory, writable: cuts
        ) { frame, _ in
            let start = frame.start + Frame.headerSizeBytes
            found.append(Array(UnsafeRawBufferPointer(start: start, count: frame.payloadCount)))
        }
        payloads = found
        if cuts { try recovery.cut(in: directory) }
    }
}

func segmentPath(_ path: String, _ number: UInt64) -> String {
    "\(path)/\(FileName.segment(number).text)"
}
