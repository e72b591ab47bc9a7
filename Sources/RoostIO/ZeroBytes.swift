#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#else
    import Glibc
#endif

extension [UInt8] {
    /// Adds so many zeros. One call for all of them in a debug build too, where `repeatElement` is asked for each.
    package mutating func appendZeros(_ count: Int) {
        guard count > 0 else { return }
        let zeros = [UInt8](unsafeUninitializedCapacity: count) { bytes, initializedCount in
            memset(bytes.baseAddress.unsafelyUnwrapped, 0, count)
            initializedCount = count
        }
        append(contentsOf: zeros)
    }
}
