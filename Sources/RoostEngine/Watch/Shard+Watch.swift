import RoostLog

extension Shard {
    /// Appends a watched change and makes it visible, by `body`, as one step for all watchers.
    ///
    /// The mark that `beginAppend` left is taken back first: what begins to watch before the
    /// feed's mutex is taken knows of the change from the feed.
    @inline(never)
    func publishWatched(
        _ body: () throws -> (LogWriter.Appended, Commit)
    ) throws -> LogWriter.Appended {
        endUnneededAppend()
        return try feed.publish(body)
    }

    /// Runs `append`, whose mark must not stay where it fails.
    @inline(__always)
    func appending(_ append: () throws -> LogWriter.Appended) throws -> LogWriter.Appended {
        do { return try append() } catch {
            endUnneededAppend()
            throw error
        }
    }

    private func endUnneededAppend() {
        if published.withLock({ $0.endAppend() }) > 0 { feed.publishObserved(nil) }
    }
}
