extension ViewScan {
    /// Calls `body` with the current record and those that follow, at most `limit`, and moves after
    /// them. The key is without its dictionary, the value with its kind; both are valid during the call. What was made
    /// of them counts where this returns.
    package func forEachRecord(
        limit: Int,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var remaining = limit
        do { try visitEach(&remaining, body) } catch {
            // It may be wrong with what could not be read.
            try checkRead()
            throw error
        }
        try checkRead()
    }

    @inline(__always)
    private func visitEach(
        _ remaining: inout Int,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Void
    ) throws {
        while remaining > 0, let head = currentHead {
            let recordKey = head.pointee.key
            try body(.init(rebasing: recordKey[(1 + Int(recordKey[0]))...]), value())
            remaining -= 1
            // What is after the last one is not looked at.
            if remaining > 0 { try moveToNext() }
        }
    }
}
