#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#else
    import Glibc
#endif

/// Zeroed memory for one big table, given back when the last reference goes. From two MiB on it
/// asks the kernel for large pages.
package final class LargeMemory {
    package let base: UnsafeMutableRawPointer

    private static let largePageSizeBytes = 2 << 20

    package init(zeroedSizeBytes: Int) {
        let isLarge = zeroedSizeBytes >= Self.largePageSizeBytes
        base = .allocate(
            byteCount: max(zeroedSizeBytes, 1),
            alignment: isLarge ? Self.largePageSizeBytes : 64)
        #if os(Linux)
            // A hint: without it the pages are small.
            if isLarge { madvise(base, zeroedSizeBytes, MADV_HUGEPAGE) }
        #endif
        base.initializeMemory(as: UInt8.self, repeating: 0, count: zeroedSizeBytes)
    }

    deinit { base.deallocate() }
}
