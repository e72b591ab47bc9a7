/// What is worth keeping for the next message.
struct EncodingCache {
    var shapes = ShapeTable()
    var kinds = CoderTypeKinds()
}

/// What all sinks of one message share.
final class EncodingSession {
    /// Through a pointer, so that no access is checked twice: one task alone uses it.
    let cache: UnsafeMutablePointer<EncodingCache>
    var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    /// `nil` until there is something to put in order.
    var orders: FoundOrders?

    init() {
        cache = .allocate(capacity: 1)
        cache.initialize(to: EncodingCache())
    }

    deinit {
        cache.deinitialize(count: 1)
        cache.deallocate()
    }
}
