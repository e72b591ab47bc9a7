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
    /// Adds so many zeros.
    package mutating func appendZeros(_ count: Int) {
        guard count > 0 else { return }
        #if DEBUG
            // Without optimization `repeatElement` is asked for each of them by a generic call.
            let zeros = [UInt8](unsafeUninitializedCapacity: count) { bytes, initializedCount in
                memset(bytes.baseAddress.unsafelyUnwrapped, 0, count)
                initializedCount = count
            }
            append(contentsOf: zeros)
        #else
            append(contentsOf: repeatElement(0, count: count))
        #endif
    }
}
