import RoostEngine

extension Workspace {
    /// How a workspace is opened.
    public struct Configuration: Sendable {
        public enum Access: Sendable, Hashable {
            case readWrite
            /// Changes no byte of the workspace; writes throw `.readOnly`. Several read-only
            /// openings may be active at once, but none beside a writer.
            case readOnly
        }

        public enum Compression: Sendable, Hashable {
            /// Each value on its own, against a dictionary trained from the shard's values.
            case lz4
            case none
        }

        public var access: Access
        /// How many actors share the keys: a power of two up to 1,024. Fixed when the workspace
        /// is created; ignored afterwards.
        public var shardCount: Int
        /// What has survived when a write returns that does not say otherwise.
        public var durability: Durability
        /// How much memory decoded values may take. The log's tables and its unflushed part
        /// come on top: a flush begins when the log holds twice the budget (4 MiB at least, 128
        /// MiB at most), and writers wait at four times that.
        public var memoryBudgetBytes: Int
        /// How values are kept in snapshots.
        public var compression: Compression
        /// How `Codable` values become bytes where neither the dictionary nor the call says it.
        public var coder: ValueCoder
        /// What tells the time for values that expire.
        public var clock: WallClock

        public init(
            access: Access = .readWrite, shardCount: Int = 16,
            durability: Durability = .interval(.milliseconds(50)),
            memoryBudgetBytes: Int = 64 << 20, compression: Compression = .lz4,
            coder: ValueCoder = .roost, clock: WallClock = .system
        ) {
            self.access = access
            self.shardCount = shardCount
            self.durability = durability
            self.memoryBudgetBytes = memoryBudgetBytes
            self.compression = compression
            self.coder = coder
            self.clock = clock
        }

        var engineConfiguration: EngineConfiguration {
            precondition(
                shardCount > 0 && shardCount <= 1024 && shardCount & (shardCount - 1) == 0,
                "shardCount is a power of two up to 1,024")
            precondition(memoryBudgetBytes >= 0, "memoryBudgetBytes is not negative")
            var configuration = EngineConfiguration()
            configuration.isReadOnly = access == .readOnly
            configuration.shardCount = shardCount
            configuration.durability = durability
            configuration.memoryBudgetBytes = memoryBudgetBytes
            configuration.compresses = compression == .lz4
            configuration.wallClock = clock.milliseconds
            let threshold = min(max(UInt64(memoryBudgetBytes) * 2, 4 << 20), 128 << 20)
            configuration.flushThresholdBytes = threshold
            configuration.backlogLimitBytes = threshold * 4
            return configuration
        }
    }
}
