import Dispatch
import RoostFormat
import RoostIO
import Synchronization

/// An operation that was read back from the log, on its way into its shard's table.
struct ReplayedOperation: Sendable {
    var location: UInt
    var hash: UInt64
    var sequence: UInt64

    /// Enters operations into the tables of their shards, each when its slot has come from memory.
    static func enter(_ operations: [ReplayedOperation], into tables: inout [LogTable]) {
        let shardCount = tables.count
        for index in operations.indices {
            if index + lookAhead < operations.count {
                let ahead = operations[index + lookAhead].hash
                tables[shardIndex(of: ahead, shardCount: shardCount)].prefetchSlot(ahead)
            }
            let operation = operations[index]
            tables[shardIndex(of: operation.hash, shardCount: shardCount)].insert(
                Operation(location: operation.location), hash: operation.hash,
                sequence: operation.sequence)
        }
    }

    private static let lookAhead = 24
}

/// A thread that enters what is replayed into tables, while the opening's own goes on to read and
/// check the log.
///
/// - The thread has the tables until `finish`, and then they are whole.
/// - It keeps the log mapped that its operations point into: an opening that fails drops its own
///   hold of it first.
final class TableFiller: Sendable {
    private let channel: Channel

    private final class Channel: Sendable {
        struct State {
            var batches: [[ReplayedOperation]] = []
            var regions: [MappedRegion] = []
            /// Before the thread has begun, and when it is done.
            var tables: [LogTable]
        }

        let state: Mutex<State>
        let added = DispatchSemaphore(value: 0)
        /// How many batches may wait.
        let room = DispatchSemaphore(value: 16)
        let done = DispatchSemaphore(value: 0)

        init(_ tables: inout [LogTable]) {
            var taken: [LogTable] = []
            // As below.
            swap(&taken, &tables)
            state = Mutex(State(tables: taken))
        }

        func takeTables() -> [LogTable] {
            state.withLock { state in
                var tables: [LogTable] = []
                // Not copied: a table that is held twice is copied at its next change.
                swap(&tables, &state.tables)
                return tables
            }
        }

        func run() {
            var tables = takeTables()
            while true {
                added.wait()
                let batch = state.withLock { $0.batches.isEmpty ? nil : $0.batches.removeFirst() }
                guard let batch else { break }
                room.signal()
                ReplayedOperation.enter(batch, into: &tables)
            }
            state.withLock { swap(&tables, &$0.tables) }
            done.signal()
        }

        /// To be called after the last batch.
        func end() { added.signal() }
    }

    private init(_ channel: Channel) { self.channel = channel }

    /// Takes `tables`, which nobody else holds, to go on with them; `nil`, with all of them left, where there is no thread
    /// to be had now.
    static func begin(
        with tables: inout [LogTable], startedBy start: StartedThread.Start
    ) -> TableFiller? {
        let channel = Channel(&tables)
        if start("roost-replay", 0, { channel.run() }) { return TableFiller(channel) }
        tables = channel.takeTables()
        return nil
    }

    deinit { channel.end() }

    /// Keeps `region` for the operations in it.
    func hold(_ region: MappedRegion) { channel.state.withLock { $0.regions.append(region) } }

    /// Waits where the thread is far behind.
    func add(_ batch: [ReplayedOperation]) {
        channel.room.wait()
        channel.state.withLock { $0.batches.append(batch) }
        channel.added.signal()
    }

    /// The tables with all that was added; to be called once.
    func finish() -> [LogTable] {
        channel.end()
        channel.done.wait()
        return channel.takeTables()
    }
}
