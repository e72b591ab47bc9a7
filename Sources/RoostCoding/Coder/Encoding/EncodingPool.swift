import Synchronization

/// Sinks that wait for the next message: making one, with its buffer and its caches, takes
/// longer than most values.
enum EncodingPool {
    private static let idle = Mutex<[EncodingSink]>([])

    static func take() -> EncodingSink {
        idle.withLock { $0.popLast() }
            ?? EncodingSink(session: EncodingSession(), pathPrefix: [], depth: 0, capacity: 1024)
    }

    /// Gives a sink back, unless a value has kept it.
    static func give(_ sink: inout EncodingSink) {
        guard isKnownUniquelyReferenced(&sink), isKnownUniquelyReferenced(&sink.session),
            sink.isWorthKeeping
        else { return }
        sink.reset()
        let kept = sink
        idle.withLock {
            if $0.count < CoderLimits.idleCount { $0.append(kept) }
        }
    }
}

extension EncodingSink {
    fileprivate var isWorthKeeping: Bool {
        cache.pointee.shapes.isWorthKeeping
            && state.pointee.writer.capacity <= CoderLimits.keptSizeBytes
    }

    /// Leaves the sink as it was when it was made. Serial numbers go on.
    fileprivate func reset() {
        state.pointee.writer.reset()
        state.pointee.frames.removeAll(keepingCapacity: true)
        state.pointee.entryOffsets.removeAll(keepingCapacity: true)
        state.pointee.pending.removeAll()
        state.pointee.failure = nil
        session.userInfo = [:]
        session.orders = nil
        cache.pointee.shapes.beginMessage()
        openFrame()
    }

    /// The message: its form, the table of its shapes, and the value.
    func message() throws -> [UInt8] {
        let isRootObject = closeRoot()
        if let failure = state.pointee.failure { throw failure }
        guard !state.pointee.writer.isTooDeep else { throw fail("values are nested too deep") }
        guard !state.pointee.writer.isRefused else {
            throw fail("a value was refused, such as a URL without any text")
        }
        let table = cache.pointee.shapes.messageTable()
        // A root object goes without its header.
        let first = isRootObject ? Self.headerCount : 0
        let value = UnsafeRawBufferPointer(
            start: state.pointee.writer.base + first, count: state.pointee.writer.count - first)
        let count = 1 + table.count + value.count
        return [UInt8](unsafeUninitializedCapacity: count) { bytes, initializedCount in
            let target = UnsafeMutableRawBufferPointer(bytes)
            target[0] = isRootObject ? CoderTag.rootObject : CoderLimits.version
            table.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(rebasing: target[1...]).copyMemory(from: $0)
            }
            UnsafeMutableRawBufferPointer(rebasing: target[(1 + table.count)...])
                .copyMemory(from: value)
            initializedCount = count
        }
    }

    /// Closes all frames, and says whether the value is an object of the last shape, whose
    /// header has been left empty.
    private func closeRoot() -> Bool {
        closeFrames(to: 1)
        guard topLevel == 0, !state.pointee.frames[0].hasPending,
            [.object, .nothing].contains(state.pointee.frames[0].content)
        else {
            closeFrames(to: 0)
            return false
        }
        _ = begin(.object, at: 0)
        let number = cache.pointee.shapes.shapeNumber(of: state.pointee.frames[0].node)
        guard number == cache.pointee.shapes.shapeCount - 1 else {
            closeFrames(to: 0)
            return false
        }
        state.pointee.frames.removeLast()
        return true
    }
}
