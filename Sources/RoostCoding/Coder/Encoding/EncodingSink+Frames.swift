import RoostIO

/// Opening and closing frames.
extension EncodingSink {
    /// Bytes kept free at the beginning of a frame.
    static let headerCount = 2

    @inline(__always)
    func openFrame() {
        let serial = state.pointee.nextSerial
        state.pointee.nextSerial &+= 1
        state.pointee.frames.append(
            Frame(
                serial: serial, start: state.pointee.writer.count,
                firstEntry: state.pointee.entryOffsets.count))
    }

    /// Makes a frame that holds nothing yet an object, a map or an array; a second container of
    /// the same kind goes on with the first.
    func begin(_ content: Content, at level: Int) -> UInt32 {
        guard topLevel >= level else {
            _ = fail("an encoder was used after its value had been written")
            return 0
        }
        let frame = state.pointee.frames[level]
        switch frame.content {
        case .nothing:
            state.pointee.frames[level].content = content
            state.pointee.writer.reserve(Self.headerCount)
            state.pointee.writer.cursor += Self.headerCount
        case content: break
        case .object where content == .map: break
        case .map where content == .object: makeObject(ofMapAt: level)
        default: _ = fail("a value asked for containers of two kinds, or for one too many")
        }
        return frame.serial
    }

    /// Makes the entries of a map that was written whole the properties of an object, which takes more of them: a type may
    /// write a dictionary and then its own properties into one encoder.
    private func makeObject(ofMapAt level: Int) {
        let frame = state.pointee.frames[level]
        guard topLevel == level, !frame.hasPending else {
            _ = fail("a value asked for containers of two kinds, or for one too many")
            return
        }
        state.pointee.entryOffsets.removeSubrange(frame.firstEntry...)
        state.pointee.frames[level].content = .object
        let content = state.pointee.writer.removeBytes(from: frame.start + Self.headerCount)
        content.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            let limit = base + bytes.count
            var place = base
            do {
                while place < limit {
                    let key = CoderValue(start: place, limit: limit)
                    let value = CoderValue(start: try key.end(), limit: limit)
                    guard let name = FieldName.value(key).codingKey(CoderKey.self) else {
                        throw fail("the key of a dictionary is none of an object")
                    }
                    advance(level, name: name.stringValue)
                    place = try value.end()
                    write(bytes, from: value.start - base, to: place - base)
                }
            } catch { _ = fail("the entries of a dictionary were not found: \(error)") }
        }
    }

    /// Whether the frame at `level` takes entries. A dictionary that is written into an object that was begun
    /// already has its entries as properties.
    func isMap(_ level: Int) -> Bool {
        topLevel >= level && state.pointee.frames[level].content == .map
    }

    /// Closes the frames from the last one down to `level`.
    @inline(__always)
    func closeFrames(to level: Int) {
        while topLevel >= level {
            closeLast()
            state.pointee.frames.removeLast()
        }
    }

    private func closeLast() {
        let level = topLevel
        let frame = state.pointee.frames[level]
        if frame.hasPending { insertPending(at: level) }
        switch frame.content {
        case .whole: break
        case .nothing:
            _ = begin(.object, at: level)
            closeObject(frame)
        case .object: closeObject(frame)
        case .array: closeHeader(CoderTag.array, frame.start)
        case .map:
            let offsets = Array(state.pointee.entryOffsets[frame.firstEntry...])
            state.pointee.entryOffsets.removeLast(offsets.count)
            state.pointee.writer.sortElements(at: offsets)
            closeHeader(CoderTag.map, frame.start)
        }
    }

    @inline(__always)
    private func closeHeader(_ tag: UInt8, _ start: Int) {
        state.pointee.writer.store(tag, at: start)
        state.pointee.writer.closeFrame(contentOffset: start + Self.headerCount)
    }

    private func closeObject(_ frame: Frame) {
        let number = cache.pointee.shapes.shapeNumber(of: frame.node)
        guard number >= CoderTag.shortObjectLimit else {
            return closeHeader(CoderTag.shortObject + UInt8(number), frame.start)
        }
        if number == ShapeTable.noNumber { return closeRepeating(frame) }
        state.pointee.writer.insertVarint(UInt64(number), at: frame.start + Self.headerCount)
        closeHeader(CoderTag.object, frame.start)
    }

    /// Of values that were written under one key the last counts, as in other formats: those before it are taken
    /// out. What is absent is none of them, unless nothing else was written.
    private func closeRepeating(_ frame: Frame) {
        let start = frame.start + Self.headerCount
        let keys = cache.pointee.shapes.keyNumbers(of: frame.node)
        let content = state.pointee.writer.removeBytes(from: start)
        var ranges: [Range<Int>] = []
        var counting: [Int32: Int] = [:]
        content.withUnsafeBytes { bytes in
            // The last value's frame is closed, so that each has its end among these bytes.
            guard let base = bytes.baseAddress else { return }
            for (index, key) in keys.enumerated() {
                let begin = ranges.last?.upperBound ?? 0
                let value = CoderValue(start: base + begin, limit: base + bytes.count)
                do { ranges.append(begin..<(try value.end() - base)) } catch {
                    _ = fail("the values of a repeated key were not found: \(error)")
                    return
                }
                if counting[key] == nil || value.tag != CoderTag.absent { counting[key] = index }
            }
        }
        guard ranges.count == keys.count else { return closeHeader(CoderTag.array, frame.start) }
        let kept = counting.values.sorted()
        content.withUnsafeBytes { bytes in
            for index in kept {
                write(bytes, from: ranges[index].lowerBound, to: ranges[index].upperBound)
            }
        }
        var frame = frame
        frame.node = cache.pointee.shapes.node(ofKeys: kept.map { keys[$0] })
        closeObject(frame)
    }

    func write(_ bytes: UnsafeRawBufferPointer, from start: Int, to end: Int) {
        state.pointee.writer.writeRaw(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
    }
}
