import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#else
    import Glibc
#endif

/// The directories of this process that nobody uses any more, and that what still works on them, a sync or a merge, has not
/// given back: their lock goes by itself in a moment, so that who opens one again waits for it instead of being refused.
///
/// - A directory stands here from `noteLeft()` until its descriptor is closed.
enum LeftDirectories {
    struct Identity: Hashable, Sendable {
        let device: UInt64
        let number: UInt64

        /// `nil` where the system does not say.
        init?(descriptor: Int32) {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { return nil }
            device = UInt64(truncatingIfNeeded: status.st_dev)
            number = UInt64(truncatingIfNeeded: status.st_ino)
        }
    }

    private static let counts = Mutex<[Identity: Int]>([:])

    static func add(_ identity: Identity) {
        counts.withLock { $0[identity, default: 0] += 1 }
    }

    static func remove(_ identity: Identity) {
        counts.withLock { counts in
            let count = (counts[identity] ?? 0) - 1
            counts[identity] = count > 0 ? count : nil
        }
    }

    /// Runs `acquire` again while it is refused and the directory stands here, for as long as `patience`.
    static func waiting(
        _ patience: Duration, for descriptor: Int32, _ acquire: () throws -> Void
    ) throws {
        let end = ContinuousClock.now + patience
        while true {
            // Before it is tried: what goes between the try and the look has given the lock back.
            let isLeft = Identity(descriptor: descriptor).map { identity in
                counts.withLock { $0[identity] != nil }
            }
            do { return try acquire() } catch let error as RoostError where error.code == .locked {
                guard isLeft ?? false, ContinuousClock.now < end else { throw error }
            }
            usleep(1_000)
        }
    }
}
