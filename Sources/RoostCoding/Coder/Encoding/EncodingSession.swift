/// What is worth keeping for the next message.
struct EncodingCache: Sendable {
    var shapes = ShapeTable()
    var kinds = CoderTypeKinds()
}

/// What all sinks of one message share.
final class EncodingSession {
    /// Through a pointer, so that no access is checked twice: one task alone uses it.
    let cache: UnsafeMutablePointer<EncodingCache>
    let userInfo: [CodingUserInfoKey: any Sendable]

    init(cache: consuming EncodingCache, userInfo: [CodingUserInfoKey: any Sendable]) {
        self.cache = .allocate(capacity: 1)
        self.cache.initialize(to: cache)
        self.cache.pointee.shapes.beginMessage()
        self.userInfo = userInfo
    }

    deinit {
        cache.deinitialize(count: 1)
        cache.deallocate()
    }

    /// Takes the cache away, and leaves an empty one.
    func takeCache() -> EncodingCache {
        let taken = cache.move()
        cache.initialize(to: EncodingCache(shapes: .unused, kinds: .unused))
        return taken
    }
}
