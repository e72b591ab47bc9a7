import RoostFormat
import RoostIO
import RoostLog

/// Makes the tables of the shards from the operations of replayed frames.
///
/// - `batch` is what was read and is not on its way into a table yet.
/// - The tables are here until there is a filler, which there is for long logs only.
/// - Of the region that is read, the pages before `droppedOffset` are out of the process's page table: a long
///   log would else stand in memory whole at the end of an opening that reads it once.
struct Replay {
    private let hashSeed: HashSeed
    private let start: StartedThread.Start
    private var tables: [LogTable]
    private var filler: TableFiller?
    private var batch: [ReplayedOperation] = []
    private var clears: [(prefix: [UInt8], sequence: UInt64)] = []
    private var regions: [MappedRegion] = []
    private var droppedOffset = 0
    private(set) var operationCount = 0
    private(set) var sizeBytes: UInt64 = 0

    private static let batchCount = 1024
    private static let droppedPieceBytes = 4 << 20
    /// A thread takes as long to begin as some thousand operations take.
    private static let operationCountBeforeFiller = 32 * batchCount

    /// - Parameter start: How the filler's thread is started, for tests.
    init(
        shardCount: Int, hashSeed: HashSeed,
        startedBy start: @escaping StartedThread.Start = StartedThread.bySystem
    ) {
        self.hashSeed = hashSeed
        self.start = start
        tables = (0..<shardCount).map { _ in LogTable() }
    }

    /// `region` is the memory that the frame stands in, of the file at `path`.
    mutating func add(_ frame: Frame.View, _ region: MappedRegion, path: String) throws {
        if regions.last !== region {
            if let last = regions.last {
                last.dropPages(
                    offset: droppedOffset, sizeBytes: last.sizeBytes - droppedOffset)
            }
            regions.append(region)
            filler?.hold(region)
            droppedOffset = 0
        }
        let offset = frame.start - UnsafeRawPointer(region.base)
        if offset - droppedOffset >= Self.droppedPieceBytes {
            region.dropPages(offset: droppedOffset, sizeBytes: offset - droppedOffset)
            droppedOffset = offset & ~0xffff
        }
        sizeBytes += UInt64(frame.sizeBytes)
        let sequence = frame.sequence
        let isWhole = frame.forEachOperation { operation in
            operationCount += 1
            if operation.rawKind == Operation.Kind.clear.rawValue {
                clears.append((Array(operation.key), sequence))
            } else {
                enter(operation, sequence)
            }
        }
        // Zeros stand where a page could not be read, and would be the key of another record.
        try region.checkRead(from: offset, count: frame.sizeBytes)
        guard isWhole else {
            throw RoostError(
                .corrupt, "a batch's operations make no sense though its checksum holds",
                file: path, offset: UInt64(offset))
        }
    }

    @inline(__always)
    private mutating func enter(_ operation: Operation, _ sequence: UInt64) {
        batch.append(
            ReplayedOperation(
                location: operation.location, hash: hashSeed.hash(operation.key),
                sequence: sequence))
        if batch.count == Self.batchCount { passOn() }
    }

    @inline(never)
    private mutating func passOn() {
        if filler == nil, operationCount > Self.operationCountBeforeFiller { beginFiller() }
        if let filler {
            filler.add(batch)
            batch = []
            batch.reserveCapacity(Self.batchCount)
        } else {
            ReplayedOperation.enter(batch, into: &tables)
            batch.removeAll(keepingCapacity: true)
        }
    }

    /// Where the system has no thread the tables are filled here, and it is asked again with the next batch.
    private mutating func beginFiller() {
        filler = TableFiller.begin(with: &tables, startedBy: start)
        for region in regions { filler?.hold(region) }
    }

    /// What was replayed, by shard; to be called once, at the end, in place of `apply`.
    mutating func finish() -> (tables: [LogTable], clears: [[UInt8]: UInt64]) {
        passOn()
        if let filler { tables = filler.finish() }
        filler = nil
        var finished: [LogTable] = []
        swap(&finished, &tables)
        for index in finished.indices {
            for region in regions { finished[index].hold(region) }
        }
        return (
            finished, Dictionary(clears.map { ($0.prefix, $0.sequence) }, uniquingKeysWith: max)
        )
    }

    /// Gives the shards what was replayed; to be called once, at the end.
    mutating func apply(to shards: [Shard]) {
        passOn()
        if let filler { tables = filler.finish() }
        for (shard, var table) in zip(shards, tables) {
            for clear in clears { shard.replayClear(clear.prefix, sequence: clear.sequence) }
            for region in regions { table.hold(region) }
            shard.replay(table)
        }
        // From here on the shards alone have them, and need not copy them to change them.
        tables = []
    }
}
