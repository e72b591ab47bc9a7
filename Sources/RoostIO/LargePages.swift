#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#else
    import Glibc
#endif

/// Memory from the kernel in pages as large as it gives, for tables that are looked into at random.
package enum LargePages {
    /// Of one page, and what memory of them is aligned to.
    package static let sizeBytes = 2 << 20

    /// Zeroed memory whose pages are there: blocks until the kernel has cleared them. `nil` where
    /// there is no memory.
    package static func map(sizeBytes wanted: Int) -> UnsafeMutableRawPointer? {
        let mapped = mmap(
            nil, wanted + sizeBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let mapped, mapped != MAP_FAILED else { return nil }
        let memory = mapped.alignedUp(toMultipleOf: sizeBytes)
        // What is too much before and after it.
        let before = memory - mapped
        if before > 0 { munmap(mapped, before) }
        munmap(memory + wanted, sizeBytes - before)
        #if os(Linux)
            // A hint: without it the pages are small.
            madvise(memory, wanted, MADV_HUGEPAGE)
        #endif
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: wanted)
        return memory
    }

    package static func unmap(_ memory: UnsafeMutableRawPointer, sizeBytes: Int) {
        munmap(memory, sizeBytes)
    }
}
