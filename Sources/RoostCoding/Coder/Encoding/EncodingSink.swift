import RoostIO

/// The bytes of one value and of the values inside it, while they are being written.
///
/// - Frames are the values being written at this moment, each inside the one before it. Only
///   the last one is written to; a container remembers the serial number of its frame, and is
///   refused when that frame is not the last one, or has been closed. No serial number is given
///   twice in the life of a sink.
/// - A container that is asked for by hand (`nestedContainer`, `superEncoder`) may be written to
///   at any time, and so has a sink of its own, kept in `pending` until its frame is closed.
/// - The bytes of a frame begin with a header of two bytes that is filled in when the frame is
///   closed, since only then are its length and its shape known.
/// - Sendable, since one task at a time uses a sink: the one that made it or took it from
///   `EncodingPool`, and nobody else holds those that the pool has.
final class EncodingSink: @unchecked Sendable {
    enum Content: UInt8 {
        /// Nothing has been written; the value's kind is not known.
        case nothing
        /// A whole value has been written, with no header to fill in.
        case whole
        case object, array, map
    }

    struct Frame: BitwiseCopyable {
        var content = Content.nothing
        var hasPending = false
        var node: Int32 = 0
        var serial: UInt32
        var start: Int
        var elementCount = 0
        /// Where the frame's own entries begin in `entryOffsets`.
        var firstEntry: Int
        /// Where the last key of a map begins.
        var lastKey = 0
    }

    struct State: ~Copyable {
        var writer: BinaryWriter
        var frames: ContiguousArray<Frame> = []
        /// Where the entries of maps begin, so that they can be put in order.
        var entryOffsets: [Int] = []
        var pending: [PendingValue] = []
        var nextSerial: UInt32 = 0
        var failure: RoostError?
    }

    /// Through pointers, so that no access is checked twice.
    let state: UnsafeMutablePointer<State>
    var session: EncodingSession
    let cache: UnsafeMutablePointer<EncodingCache>
    /// The keys on the way to the sink's value, for messages to people.
    let pathPrefix: [any CodingKey]
    /// How many values the sink's value is inside of.
    let depth: Int

    init(session: EncodingSession, pathPrefix: [any CodingKey], depth: Int, capacity: Int) {
        state = .allocate(capacity: 1)
        state.initialize(to: State(writer: BinaryWriter(capacity: capacity)))
        self.session = session
        self.cache = session.cache
        self.pathPrefix = pathPrefix
        self.depth = depth
        state.pointee.frames.reserveCapacity(4)
        openFrame()
    }

    deinit {
        state.deinitialize(count: 1)
        state.deallocate()
    }

    @inline(__always)
    var topLevel: Int { state.pointee.frames.count - 1 }

    func fail(_ message: String) -> RoostError {
        let error = RoostError(.encodingFailed, message)
        if state.pointee.failure == nil { state.pointee.failure = error }
        return error
    }

    func path(to level: Int) -> [any CodingKey] {
        pathPrefix + state.pointee.frames.prefix(level).compactMap(lastKey)
    }

    /// The key under which the value that is open inside a frame is written.
    private func lastKey(of frame: Frame) -> (any CodingKey)? {
        switch frame.content {
        case .nothing, .whole: return nil
        case .object: return cache.pointee.shapes.lastName(of: frame.node).map { CoderKey($0) }
        case .array: return CoderKey(frame.elementCount - 1)
        case .map:
            let writer = state.pointee.writer.base
            let key = CoderValue(
                start: UnsafeRawPointer(writer + frame.lastKey),
                limit: UnsafeRawPointer(state.pointee.writer.cursor))
            return FieldName.value(key).codingKey(CoderKey.self)
        }
    }
}
