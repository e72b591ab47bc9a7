/// What containers ask of a sink.
extension EncodingSink {
    /// Checks that the frame of a container is the one that is written to.
    @inline(__always)
    func check(_ level: Int, _ serial: UInt32) throws {
        let frames = state.pointee.frames.count
        guard frames == level + 1, state.pointee.frames[level].serial == serial else {
            throw fail("a container was written to while a value inside it was, or too late")
        }
    }

    /// Adds a key to the shape of the object at `level`.
    @inline(__always)
    func advance(_ level: Int, name: String) {
        let node = state.pointee.frames[level].node
        state.pointee.frames[level].node = cache.pointee.shapes.child(of: node, named: name)
    }

    /// Writes the key of an entry of the map at `level`.
    func beginEntry(_ key: MapKey, at level: Int) {
        state.pointee.entryOffsets.append(state.pointee.writer.count)
        state.pointee.frames[level].lastKey = state.pointee.writer.count
        key.write(into: &state.pointee.writer)
    }

    /// A sink for a value that will be put here, when the frame at `level` is closed.
    func nestedSink(at level: Int, key: any CodingKey) -> ValueEncoder {
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
        state.pointee.pending.append((offset, level, sink))
        return ValueEncoder(sink: sink, level: 0)
    }
}
