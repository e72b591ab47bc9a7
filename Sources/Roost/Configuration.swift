import RoostEngine
import RoostIO
import RoostSealing

extension Workspace {
    /// How a workspace is opened.
    public struct Configuration: Sendable {
        /// Whether a workspace is opened for changing.
        public enum Access: Sendable, Hashable {
            /// Reads and changes; the directory is made where there is none.
            case readWrite
            /// Stores nothing; writes throw `.readOnly`. Any number of read-only openings may be active at
            /// once, in any number of processes, beside a writer or not. They follow the writer within
            /// milliseconds and take no lock, so that none is in a writer's way.
            ///
            /// On a file system that is not known to show one process at once what another has stored, as
            /// NFS, SMB and FUSE, an opening is `.locked` while a writer is active, and a writer's while it is.
            case readOnly
        }

        /// How values are kept in cold storage.
        public enum Compression: Sendable, Hashable {
            /// Each value on its own, against a dictionary trained from the shard's values.
            case lz4
            /// As they are.
            case none
        }

        /// Whether the workspace is opened for changing.
        public var access: Access
        /// How many actors share the keys: a power of two up to 1,024; opening with another number throws `.io`. Nothing on
        /// disk depends on it: it may be another at each opening.
        public var shardCount: Int
        /// What has survived when a write returns that does not say otherwise.
        public var durability: Durability
        /// How much memory decoded values may take; opening with less than nothing throws `.io`. The log's tables and its unflushed part
        /// come on top: a flush begins when the log holds twice the budget (4 MiB at least, 128
        /// MiB at most), or earlier where most of it is overwritten or nobody writes for a while, and
        /// writers wait at four times that.
        public var memoryBudgetBytes: Int
        /// A query that is sorted by pieces has at least this for its keys: each piece costs a look at all objects, and a
        /// budget of nothing, which keeps no values, must not make a look for each object.
        package var minimumSortBytes = 16 << 20
        /// How values are kept in snapshots.
        public var compression: Compression
        /// How `Codable` values become bytes where neither the dictionary nor the call says it.
        public var coder: ValueCoder
        /// What tells the time for values that expire.
        public var clock: WallClock
        /// Whether a page of a mapped file that cannot be had, as the disk cannot read it, has no
        /// room for it, or somebody has cut the file, is told as `.io` or `.outOfSpace`.
        ///
        /// The first opening that asks for it installs a handler of the signal SIGBUS, which acts on
        /// the memory of such openings alone and hands every other one on to the handler that was
        /// there before. A handler that the program installs later has to do the same. Without it
        /// such a page ends the process.
        public var handlesPageFaults: Bool
        /// What is told of all that happens, as `RoostObservability` is; nothing is counted or timed
        /// where it is `nil`.
        public var observer: (any WorkspaceObserver)?

        /// How the workspace's files are encrypted; they are not where it is `nil`. A workspace is encrypted from
        /// its first opening on, or never: `roost copy`, or writing its values into a new one, changes that.
        /// Another key, or none, is `.wrongKey`.
        public var encryption: WorkspaceEncryption?

        /// The defaults suit an app; each argument is the property of its name.
        public init(
            access: Access = .readWrite, shardCount: Int = 16,
            durability: Durability = .interval(.milliseconds(50)),
            memoryBudgetBytes: Int = 64 << 20, compression: Compression = .lz4,
            coder: ValueCoder = .roost, clock: WallClock = .system,
            handlesPageFaults: Bool = true, observer: (any WorkspaceObserver)? = nil,
            encryption: WorkspaceEncryption? = nil
        ) {
            self.access = access
            self.shardCount = shardCount
            self.durability = durability
            self.memoryBudgetBytes = memoryBudgetBytes
            self.compression = compression
            self.coder = coder
            self.clock = clock
            self.handlesPageFaults = handlesPageFaults
            self.observer = observer
            self.encryption = encryption
        }

        /// The real one, as it is asked for.
        package var fileSystem: any FileSystem {
            let real = PosixFileSystem(handlesFaults: handlesPageFaults)
            // What was read of snapshots is in memory of the workspace's own, beside the decoded values.
            let limit = max(memoryBudgetBytes, 16 << 20)
            return encryption.map { SealedFileSystem(real, $0.suite, openLimitBytes: limit) }
                ?? real
        }

        func engineConfiguration() throws -> EngineConfiguration {
            // They may come from a file of settings, which is to end no program.
            guard shardCount > 0, shardCount <= 1024, shardCount & (shardCount - 1) == 0 else {
                throw RoostError(
                    .io,
                    "a workspace cannot have \(shardCount) shards: shardCount is a power of two from 1 to 1,024"
                )
            }
            guard memoryBudgetBytes >= 0 else {
                throw RoostError(
                    .io,
                    "memoryBudgetBytes is \(memoryBudgetBytes): it is the memory that values may take, 0 or more"
                )
            }
            var configuration = EngineConfiguration()
            configuration.isReadOnly = access == .readOnly
            configuration.shardCount = shardCount
            configuration.durability = durability
            configuration.memoryBudgetBytes = memoryBudgetBytes
            configuration.sortBudgetBytes = max(memoryBudgetBytes, minimumSortBytes)
            configuration.compresses = compression == .lz4
            configuration.wallClock = clock.milliseconds
            configuration.clockMoves = clock.moves
            configuration.observer = observer
            let threshold = min(max(UInt64(memoryBudgetBytes) * 2, 4 << 20), 128 << 20)
            configuration.flushThresholdBytes = threshold
            configuration.backlogLimitBytes = threshold * 4
            return configuration
        }
    }
}
