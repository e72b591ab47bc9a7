#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#else
    import Glibc
#endif

/// The system's idea of the time of day, which may be set back and forth.
package enum WallTime {
    /// Milliseconds since 1970; zero before.
    package static var milliseconds: UInt64 {
        var time = timespec()
        // Cannot fail: the clock is there on every system, and the memory is.
        clock_gettime(CLOCK_REALTIME, &time)
        guard time.tv_sec >= 0 else { return 0 }
        return UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
    }
}
