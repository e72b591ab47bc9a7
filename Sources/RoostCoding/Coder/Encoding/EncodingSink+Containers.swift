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

    /// Takes away a value whose `encode(to:)` threw, with its key, so that the container inside which it was begun
    /// is as it was before: who catches the error may go on with it.
    @inline(never)
    func takeBackValue(inside level: Int) {
        let value = state.pointee.frames[level + 1]
        state.pointee.frames.removeSubrange((level + 1)...)
        state.pointee.pending.removeAll { $0.level > level }
        state.pointee.entryOffsets.removeSubrange(value.firstEntry...)
        var start = value.start
        let frame = state.pointee.frames[level]
        switch frame.content {
        case .nothing: break
        case .whole: state.pointee.frames[level].content = .nothing
        case .object: state.pointee.frames[level].node = cache.pointee.shapes.parent(of: frame.node)
        case .array: state.pointee.frames[level].elementCount -= 1
        case .map:
            start = frame.lastKey
            // A dictionary that is written in order notes no offsets.
            if value.firstEntry > frame.firstEntry { state.pointee.entryOffsets.removeLast() }
        }
        state.pointee.writer.cursor = state.pointee.writer.base + start
    }
}
