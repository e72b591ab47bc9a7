import Synchronization

/// Messages that wait for the next bytes, with the tables and kinds of types that they know.
enum DecodingPool {
    private static let idle = Mutex<[DecodingMessage]>([])

    static func take() -> DecodingMessage {
        idle.withLock { $0.popLast() } ?? DecodingMessage()
    }

    /// Closes a message, and keeps it unless a value has kept a decoder.
    static func give(_ message: inout DecodingMessage) {
        guard message.close() else { return }
        let kept = message
        let isKept = idle.withLock {
            guard $0.count < CoderLimits.idleCount else { return false }
            $0.append(kept)
            return true
        }
        // Its places refer to it: it would never be released.
        if !isKept { kept.state.pointee.places = [] }
    }
}
