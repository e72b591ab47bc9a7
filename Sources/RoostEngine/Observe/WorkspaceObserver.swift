import RoostIO

/// What is told of all that happens in a workspace: for logs, metrics and traces.
///
/// Every call is made on the thread where it happened, some of them while others wait: return at
/// once, and call nothing of the workspace. What is not implemented is not listened to.
///
/// Nothing is counted or timed for an observer that is not there: without one a put executes not one
/// instruction more, and a read of one key, which is counted anyway, is never timed.
public protocol WorkspaceObserver: Sendable {
    /// The workspace at `path` was opened.
    func opened(_ path: String, _ recovery: RecoveryReport, after duration: Duration)
    /// It was closed; with the error, where what was enqueued was lost or the last sync failed.
    func closed(after duration: Duration, _ error: RoostError?)
    /// The log's records were written to snapshots.
    func flushed(_ flush: ObservedCompaction)
    /// Tiers of snapshots were written as one.
    func merged(_ merge: ObservedCompaction)
    /// A flush or a merge failed, as where the disk is full; it is tried again.
    func compactionFailed(_ error: RoostError)
    /// The disk was asked to sync the log; `batchCount` batches became durable.
    func synced(batchCount: UInt64, after duration: Duration)
    /// From here on writers wait: ``ObservedOperation/Cause/compaction`` or
    /// ``ObservedOperation/Cause/disk``.
    func writersBeganToWait(for cause: ObservedOperation.Cause)
    /// And no longer.
    func writersGoOn(after duration: Duration, _ cause: ObservedOperation.Cause)
    /// A failed sync, or a failed change of the manifest: no write is taken from here on.
    func poisoned(_ error: RoostError)
    /// A write failed that nothing is wrong with: `.outOfSpace`, `.io`.
    func writeFailed(_ error: RoostError)
    /// A backup is on disk and checked.
    func backedUp(_ report: BackupReport, after duration: Duration)
    /// A call is through that was measured.
    func measured(_ operation: ObservedOperation)
    /// A call begins that a trace may show, in the task that makes it. Single writes are not told,
    /// unless those that wait for a sync.
    func began(_ kind: ObservedOperation.Kind) -> (any ObservedSpan)?
}

/// One call in a trace.
public protocol ObservedSpan: Sendable {
    /// The call is through.
    func ended(_ operation: ObservedOperation, _ error: (any Error)?)
}

extension WorkspaceObserver {
    public func opened(_ path: String, _ recovery: RecoveryReport, after duration: Duration) {}
    public func closed(after duration: Duration, _ error: RoostError?) {}
    public func flushed(_ flush: ObservedCompaction) {}
    public func merged(_ merge: ObservedCompaction) {}
    public func compactionFailed(_ error: RoostError) {}
    public func synced(batchCount: UInt64, after duration: Duration) {}
    public func writersBeganToWait(for cause: ObservedOperation.Cause) {}
    public func writersGoOn(after duration: Duration, _ cause: ObservedOperation.Cause) {}
    public func poisoned(_ error: RoostError) {}
    public func writeFailed(_ error: RoostError) {}
    public func backedUp(_ report: BackupReport, after duration: Duration) {}
    public func measured(_ operation: ObservedOperation) {}
    public func began(_ kind: ObservedOperation.Kind) -> (any ObservedSpan)? { nil }
}
