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
/// comes from the kernel, which is asked for large pages and gives them zeroed.
package final class LargeMemory {
    package let base: UnsafeMutableRawPointer
    /// What was mapped around `base`; `nil` where it was allocated.
    private let mapping: UnsafeMutableRawBufferPointer?

    private static let largePageSizeBytes = 2 << 20

    package init(zeroedSizeBytes: Int) {
        if zeroedSizeBytes >= Self.largePageSizeBytes,
            let mapping = Self.map(sizeBytes: zeroedSizeBytes + Self.largePageSizeBytes)
        {
            self.mapping = mapping
            base = mapping.baseAddress!.alignedUp(toMultipleOf: Self.largePageSizeBytes)
            #if os(Linux)
                // A hint: without it the pages are small.
                madvise(base, zeroedSizeBytes, MADV_HUGEPAGE)
            #endif
        } else {
            mapping = nil
            base = .allocate(byteCount: max(zeroedSizeBytes, 1), alignment: 64)
            base.initializeMemory(as: UInt8.self, repeating: 0, count: zeroedSizeBytes)
        }
    }

    deinit {
        if let mapping { munmap(mapping.baseAddress!, mapping.count) } else { base.deallocate() }
    }

    private static func map(sizeBytes: Int) -> UnsafeMutableRawBufferPointer? {
        let base = mmap(
            nil, sizeBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let base, base != MAP_FAILED else { return nil }
        return UnsafeMutableRawBufferPointer(start: base, count: sizeBytes)
    }
}
