/// The log as its watchers see it: a writer's own, or one that a reader follows.
package protocol CommittedLog: AnyObject, Sendable {
    /// The last batch that is visible here, or about to become so.
    var lastSequence: UInt64 { get }
    var history: LogHistory { get }
}

extension LogWriter: CommittedLog {}
