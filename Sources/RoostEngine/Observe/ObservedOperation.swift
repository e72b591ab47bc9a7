/// One call of the workspace, measured.
public struct ObservedOperation: Sendable, Hashable {
    /// What was called.
    public enum Kind: String, Sendable, CaseIterable {
        /// A set or removal of one key. One in ``ObservedOperation/samplingInterval`` is measured of those
        /// that wait for nothing, and every other one.
        case write
        /// A batch: `setAll`, `write`, `removeAll`.
        case batch
        /// A transaction, all its attempts.
        case transaction
        /// A `load` of a key whose value is only in a snapshot.
        case load
        /// `synchronize`.
        case synchronize
    }

    /// Why an operation took as long as it did, as far as the workspace can tell.
    public enum Cause: String, Sendable, CaseIterable {
        /// Writers waited for a flush: they brought more than compaction takes.
        case compaction
        /// Writers waited for a sync to begin: they brought more than the disk takes.
        case disk
        /// The sync that the call asked for.
        case sync
        /// Other writers of the same keys, whose turn came first.
        case turn
        /// Attempts of a transaction that other writers were before.
        case conflict
        /// Reading from a snapshot.
        case cold
    }

    /// Of so many calls that wait for nothing one is measured, chosen at random on each thread.
    public static let samplingInterval = 128

    /// What was called.
    public let kind: Kind
    /// From the call's begin to its end, as the caller waits.
    public package(set) var duration = Duration.zero
    /// What most of the time went into; `nil` where the workspace cannot tell.
    public package(set) var cause: Cause?
    /// Whether it stands for ``samplingInterval`` calls.
    public package(set) var isSampled = false
    /// Of transactions alone.
    public package(set) var attemptCount = 1

    package init(_ kind: Kind) { self.kind = kind }
}

/// A flush or a merge that is through.
public struct ObservedCompaction: Sendable, Hashable {
    /// From its begin until its snapshots are in the manifest.
    public package(set) var duration = Duration.zero
    /// What its snapshots take on disk.
    public package(set) var writtenBytes: UInt64 = 0
    /// How many snapshots it wrote.
    public package(set) var snapshotCount = 0
    /// Of a merge: how many tiers it made one.
    public package(set) var tierCount = 1
    /// Every batch up to here is in snapshots.
    public package(set) var flushedSequence: UInt64 = 0

    package init() {}
}
