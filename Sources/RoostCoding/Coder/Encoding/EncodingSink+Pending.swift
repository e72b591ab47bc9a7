/// Values that are asked for by hand, and put in their places when their frame is closed.
extension EncodingSink {
    struct PendingValue {
        var offset: Int
        var level: Int
        var sink: EncodingSink
        /// The keys of its object up to its own.
        var node: Int32
        /// The key of a nested container; `nil` for the encoder of a superclass.
        var containerName: String?
    }

    /// The container that was asked for under a key of the frame at `level` before: whoever asks again, such as a
    /// subclass after its superclass, goes on with it.
    func nestedContainer(at level: Int, named name: String) -> ValueEncoder? {
        guard state.pointee.frames[level].hasPending else { return nil }
        return state.pointee.pending.first { value in
            // By their bytes too: Swift holds more than those to be equal.
            guard value.level == level, let other = value.containerName, other == name else {
                return false
            }
            return other.utf8.elementsEqual(name.utf8)
        }.map { ValueEncoder(sink: $0.sink, level: 0) }
    }

    /// A sink for a value that will be put here, when the frame at `level` is closed.
    func nestedSink(at level: Int, key: any CodingKey, isContainer: Bool) -> ValueEncoder {
        precondition(topLevel >= 0, "an encoder was used after its value had been written")
        let offset = state.pointee.writer.count
        if topLevel < level {
            _ = fail("a container was asked for a nested one too late")
        } else {
            state.pointee.frames[level].hasPending = true
        }
        let sink = EncodingSink(
            session: session, pathPrefix: path(to: level) + [key], depth: depth + level + 1,
            capacity: 64)
        if sink.depth > CoderLimits.depth {
            _ = fail("values are nested deeper than \(CoderLimits.depth) levels")
        }
        state.pointee.pending.append(
            PendingValue(
                offset: offset, level: level, sink: sink,
                node: topLevel < level ? 0 : state.pointee.frames[level].node,
                containerName: isContainer ? key.stringValue : nil))
        return ValueEncoder(sink: sink, level: 0)
    }

    /// Puts the bytes of the sinks that belong to a frame where their values belong.
    func insertPending(at level: Int) {
        let entries = state.pointee.pending.filter { $0.level == level }
        state.pointee.pending.removeAll { $0.level == level }
        guard let first = entries.first?.offset else { return }
        refuseReplaced(by: entries, at: level)
        let tail = state.pointee.writer.removeBytes(from: first)
        var position = first
        tail.withUnsafeBytes { tail in
            for entry in entries {
                write(tail, from: position - first, to: entry.offset - first)
                position = entry.offset
                entry.sink.finish(into: self)
            }
            write(tail, from: position - first, to: tail.count)
        }
    }

    /// Makes the message fail where a container was asked for under the key of a value that was written before: the
    /// container would take its place, though both are wanted.
    private func refuseReplaced(by entries: [PendingValue], at level: Int) {
        let frame = state.pointee.frames[level]
        guard cache.pointee.shapes.repeatsKey(frame.node) else { return }
        let keys = cache.pointee.shapes.keyNumbers(of: frame.node)
        var containers: [Int: Bool] = [:]
        for entry in entries {
            let index = cache.pointee.shapes.keyNumbers(of: entry.node).count - 1
            containers[index] = entry.containerName != nil
        }
        var written: Set<Int32> = []
        var position = UnsafeRawPointer(state.pointee.writer.base + frame.start + Self.headerCount)
        for (index, key) in keys.enumerated() {
            if let isContainer = containers[index] {
                guard isContainer, written.contains(key) else { continue }
                _ = fail(
                    "a container was asked for under the key of a value that was written before")
                return
            }
            let value = CoderValue(
                start: position, limit: UnsafeRawPointer(state.pointee.writer.cursor))
            do { position = try value.end() } catch {
                _ = fail("the values before a container were not found: \(error)")
                return
            }
            if value.tag != CoderTag.absent { written.insert(key) }
        }
    }

    private func finish(into parent: EncodingSink) {
        closeFrames(to: 0)
        if let failure = state.pointee.failure { parent.state.pointee.failure = failure }
        if state.pointee.writer.isTooDeep { parent.state.pointee.writer.isTooDeep = true }
        if state.pointee.writer.isRefused { parent.state.pointee.writer.refuse() }
        let writer = UnsafeRawBufferPointer(
            start: state.pointee.writer.base, count: state.pointee.writer.count)
        parent.state.pointee.writer.writeRaw(writer)
    }
}
