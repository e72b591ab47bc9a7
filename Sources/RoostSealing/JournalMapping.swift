import RoostIO
import Synchronization

/// The preallocated part of a journal's file as memory, which pieces are sealed straight into.
///
/// - A piece is stored where none was before, so nothing that was written is ever stored over.
/// - A page that cannot be had is replaced by private memory (`MappedRegion+Faults`). Stores into it do not reach the
///   file: after each piece it is asked whether that happened (`checkStored`).
struct JournalMapping {
    private let region: MappedRegion
    /// `MappedRegion.faultCount` when the last piece was found to be in the file.
    fileprivate var faultCount = MappedRegion.faultCount

    /// - Returns: `nil` where the file system cannot map the file, or may give a page of it another place: there
    ///   each piece is written by a call.
    init?(_ file: any File, sizeBytes: Int) throws {
        guard let region = try file.map(sizeBytes: sizeBytes, writable: true) else { return nil }
        self.region = region
    }

    /// Where a piece at `place` is stored; `nil` where it goes past the end.
    func memory(at place: UInt64, count: Int) -> UnsafeMutableRawBufferPointer? {
        guard place <= UInt64(region.sizeBytes), count <= region.sizeBytes - Int(place) else {
            return nil
        }
        return .init(start: region.base + Int(place), count: count)
    }

    /// Up to where pages were made ready to be stored to.
    private var readyEnd = 0

    /// The pages from `place` on that are to be made ready next, of those for about `sizeBytes` of content: the
    /// region, and which part of it.
    mutating func nextPages(
        from place: UInt64, forContent sizeBytes: Int
    ) -> (region: MappedRegion, begin: Int, sizeBytes: Int) {
        // Whole pages, the greatest of them 64 KiB.
        let begin = max(readyEnd, Int(place)) & ~0xffff
        readyEnd = min(begin + sizeBytes + sizeBytes / 4, region.sizeBytes)
        return (region, begin, max(0, readyEnd - begin))
    }

    fileprivate var hasLostPages: Bool { region.replacedPageCount > 0 }
}

extension JournalFile.State {
    /// To be called once a piece is stored in `memory`, which is `place` of the file. Where a page of the file could not be
    /// had the piece is written by a call, to the byte, which says what is wrong; so are all after it.
    ///
    /// - Throws: `.outOfSpace`, `.io`.
    mutating func checkStored(
        _ memory: UnsafeMutableRawBufferPointer, at place: UInt64, in file: any File
    ) throws {
        // Who sees a later piece in the file sees this one too.
        atomicMemoryFence(ordering: .releasing)
        let faultCount = MappedRegion.faultCount
        if mapping?.faultCount == faultCount { return }
        mapping?.faultCount = faultCount
        guard let lost = mapping, lost.hasLostPages else { return }
        mapping = nil
        let sizeBytes = try file.sizeBytes()
        if sizeBytes < place { cutSizeBytes = sizeBytes }
        try refuseCut(file)
        try withExtendedLifetime(lost) { try file.write(.init(memory), at: place) }
    }

    /// To be called before a call that writes, which makes a file that was cut long again.
    mutating func refuseCutBeforeCall(_ file: any File) throws {
        guard let whole else { return }
        let sizeBytes = try file.sizeBytes()
        if sizeBytes < whole.end { cutSizeBytes = sizeBytes }
        try refuseCut(file)
    }

    /// Throws where another program has cut the file before what was written to it: to write after that would make
    /// zeros of what is missing, which nothing would tell from what a crash has taken.
    func refuseCut(_ file: any File) throws {
        guard let cutSizeBytes else { return }
        throw RoostError(
            .io, "another program has cut the log. Restore a backup, or salvage what can be read",
            file: file.path, offset: cutSizeBytes)
    }
}
