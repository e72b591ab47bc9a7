import CRoost

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#else
    import Glibc
#endif

/// A stretch of memory with a file, or nothing, behind it; given back when the last reference
/// goes.
///
/// - `base` and `sizeBytes` never change.
/// - Whoever writes to it alone owns the bytes written until it publishes them under a lock;
///   published bytes are never written again.
/// - Where `opener` is there, the memory has what was required of it, and zeros elsewhere; a part is written once,
///   before the first `require` of it returns.
/// - While `guarding` is there, a page that cannot be had is replaced by private memory instead of
///   ending the process (`MappedRegion+Faults`). Whoever has read or written asks afterwards.
///
/// `@unchecked Sendable`: the stored properties are constants, and the memory they point to
/// follows the second rule above, which `LogWriter` (the only writer) keeps by publishing each
/// frame's location under a shard's mutex after the frame is complete. What `guarding` points to
/// changes by atomics alone.
package final class MappedRegion: @unchecked Sendable {
    package let base: UnsafeMutableRawPointer
    package let sizeBytes: Int
    /// Of the file, for errors.
    package let path: String?
    let guarding: OpaquePointer?
    /// What fills parts of the memory when they are asked for; `nil` where all of it is there.
    private let opener: (any RegionOpener)?
    private let release: @Sendable (UnsafeMutableRawPointer, Int) -> Void
    private let advise: (@Sendable (Advice, UnsafeMutableRawPointer, Int) -> Void)?

    /// What the kernel is told about the use of the memory; hints, all of them.
    package enum Advice: Sendable {
        case dropPages, readsAreRandom, willBeReadWhole, willBeWritten
    }

    /// - Parameter guardedBy: The guard of a mapping that shows the file at `path`.
    package init(
        base: UnsafeMutableRawPointer, sizeBytes: Int, path: String? = nil,
        guardedBy guarding: OpaquePointer? = nil, openedBy opener: (any RegionOpener)? = nil,
        advise: (@Sendable (Advice, UnsafeMutableRawPointer, Int) -> Void)? = nil,
        release: @escaping @Sendable (UnsafeMutableRawPointer, Int) -> Void
    ) {
        self.base = base
        self.sizeBytes = sizeBytes
        self.path = path
        self.guarding = guarding
        self.opener = opener
        self.release = release
        self.advise = advise
    }

    deinit {
        if let guarding { roost_unguard_mapping(guarding) }
        release(base, sizeBytes)
    }

    /// Has `count` bytes from `offset` on be there, of what a sealed file holds: to be called before a look at
    /// them. Costs a comparison where the file is not sealed.
    @inline(__always)
    package func require(offset: Int, count: Int) throws {
        if let opener { try opener.open(offset: offset, count: count) }
    }

    /// The same file in memory of its own, of which nothing is there yet, for one who looks at all of it once: what that
    /// opens goes with what this returns. `nil` where nothing has to be opened, and, unless it is `always` wanted, where
    /// there is room for all of it here.
    package func apart(always: Bool) throws -> MappedRegion? { try opener?.apart(always: always) }

    /// The bytes of a part. What of a sealed file is not open yet is opened for this alone, and not kept: who reads
    /// a whole file once has no second copy of it in memory.
    ///
    /// - Throws: `.io` where a page cannot be had; what opening a sealed part throws.
    package func copy(_ range: Range<Int>) throws -> [UInt8] {
        guard let opener else {
            let copied = Array(bytes[range])
            try checkRead(from: range.lowerBound, count: range.count)
            return copied
        }
        return try [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
            let target = UnsafeMutableRawBufferPointer(buffer)
            try opener.read(
                into: .init(rebasing: target[..<range.count]), at: range.lowerBound)
            count = range.count
        }
    }

    /// Takes the file's pages out of this process's page table; the next look at one brings it
    /// back. For memory that is no longer written to: a sync then need not stop every processor
    /// for each page to learn whether it was changed.
    package func dropPages() {
        // Of a page that was replaced there is no other copy.
        if replacedPageCount == 0 { advise?(.dropPages, base, sizeBytes) }
    }

    /// As `dropPages`, for whole pages of a part.
    package func dropPages(offset: Int, sizeBytes wanted: Int) {
        let begin = (offset + 0xffff) & ~0xffff
        let end = min(offset + wanted, sizeBytes) & ~0xffff
        if begin < end, replacedPageCount == 0 { advise?(.dropPages, base + begin, end - begin) }
    }

    /// From here on a look at one page reads that page, and not megabytes around it.
    package func expectRandomReads() { advise?(.readsAreRandom, base, sizeBytes) }

    /// Begins to read all of it, ahead of its use.
    package func readAhead() { advise?(.willBeReadWhole, base, sizeBytes) }

    /// Begins to read the part at `offset`, as much of it as there is, ahead of its use.
    package func readAhead(offset: Int, sizeBytes wanted: Int) {
        // The kernel takes whole pages only, the greatest of them 64 KiB.
        let begin = offset & ~0xffff
        let end = min(offset + wanted, sizeBytes)
        if begin < end { advise?(.willBeReadWhole, base + begin, end - begin) }
    }

    /// Whether the memory is a file's pages that the kernel takes advice on.
    package var takesAdvice: Bool { advise != nil }

    /// Brings the pages of a part into the page table, ready to be written to: blocks for about a
    /// microsecond a page, which whoever writes to them then does not.
    package func prefault(offset: Int, sizeBytes wanted: Int) {
        let end = min(offset + wanted, sizeBytes)
        if offset < end { advise?(.willBeWritten, base + offset, end - offset) }
    }

    package var bytes: UnsafeRawBufferPointer { .init(start: base, count: sizeBytes) }

    /// Below this a mapping of its own, with its calls and page faults, costs more than zeros.
    private static let smallSizeBytes = 256 << 10

    /// Zeroed memory with no file behind it, as large as the file at `path` says that it is.
    ///
    /// - Throws: `.io` where there is not so much: a file may be longer than any memory.
    package static func anonymous(sizeBytes: Int, for path: String) throws -> MappedRegion {
        if sizeBytes < smallSizeBytes { return anonymous(sizeBytes: sizeBytes) }
        if let region = fromKernel(sizeBytes: sizeBytes) { return region }
        throw RoostError(
            .io,
            "there is no memory for a file of \(sizeBytes) bytes. If nobody made it so long, restore a backup",
            file: path)
    }

    /// From the kernel, zeroed page by page when it is first touched: most of a segment in memory never is.
    private static func fromKernel(sizeBytes: Int) -> MappedRegion? {
        let mapped = mmap(
            nil, sizeBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let mapped, mapped != MAP_FAILED else { return nil }
        return MappedRegion(base: mapped, sizeBytes: sizeBytes) { munmap($0, $1) }
    }

    /// Zeroed memory with no file behind it.
    package static func anonymous(sizeBytes: Int) -> MappedRegion {
        if sizeBytes >= smallSizeBytes, let region = fromKernel(sizeBytes: sizeBytes) {
            return region
        }
        let base = UnsafeMutableRawPointer.allocate(byteCount: max(sizeBytes, 1), alignment: 64)
        base.initializeMemory(as: UInt8.self, repeating: 0, count: sizeBytes)
        return MappedRegion(base: base, sizeBytes: sizeBytes) { base, _ in base.deallocate() }
    }
}

/// Fills parts of a region's memory.
package protocol RegionOpener: AnyObject, Sendable {
    /// Returns once `count` bytes from `offset` on are there; of what is past the region's end nothing is done.
    /// What was there before is not written again.
    ///
    /// - Throws: `.corrupt` with file and offset, `.io`.
    func open(offset: Int, count: Int) throws

    /// Fills `buffer` with the bytes from `offset` on, and keeps nothing.
    ///
    /// - Throws: As `open`.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws

    /// As that of a region.
    ///
    /// - Throws: `.io`.
    func apart(always: Bool) throws -> MappedRegion?
}
