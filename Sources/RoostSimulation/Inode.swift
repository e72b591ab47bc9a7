import Foundation

/// One simulated file: what is on disk, and what the page cache holds.
///
/// - `volatile` is what reads see; `durable` is what a power cut surely leaves.
/// - A page in `touched` is dirty: a sync brings it to disk, a power cut may lose it by sectors.
/// - A page in `dropped` is clean though it never reached the disk: a sync of it failed. Reads
///   still see it, the next sync passes it over, a power cut takes it.
/// - Memory that is mapped for writing is looked at when something asks (`absorb`), as stores
///   into it make no call. It is filled from its begin: 256 KiB of zeros end the look.
struct Inode: Sendable {
    struct Mapping: Sendable {
        var base: UInt
        var sizeBytes: Int
    }

    private(set) var durable = SparseBytes()
    private(set) var volatile = SparseBytes()
    private(set) var touched: Set<Int> = []
    private(set) var dropped: Set<Int> = []
    /// The sizes that the file had since the last sync, the durable one first.
    private(set) var sizes = [0]
    private var mappings: [Mapping] = []

    init() {}

    /// A file of which all is on disk.
    init(onDisk content: SparseBytes) {
        durable = content
        volatile = content
        sizes = [content.sizeBytes]
    }

    // MARK: Changing

    mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        absorb()
        for page in volatile.write(bytes, at: offset) { touch(page) }
        noteSize()
        // Mappings show the same pages.
        for mapping in mappings where offset < mapping.sizeBytes {
            guard let base = UnsafeMutableRawPointer(bitPattern: mapping.base) else { continue }
            let count = min(bytes.count, mapping.sizeBytes - offset)
            if let source = bytes.baseAddress {
                (base + offset).copyMemory(from: source, byteCount: count)
            }
        }
    }

    mutating func resize(to sizeBytes: Int) {
        absorb()
        volatile.resize(to: sizeBytes)
        noteSize()
    }

    private mutating func noteSize() {
        if sizes.last != volatile.sizeBytes { sizes.append(volatile.sizeBytes) }
    }

    private mutating func touch(_ page: Int) {
        touched.insert(page)
        dropped.remove(page)
    }

    /// Flips one bit of what was written, on disk too; returns the byte's offset.
    mutating func flipBit(_ random: inout SimulationRandom) -> Int? {
        let pages = volatile.pageIndices
        guard !pages.isEmpty else { return nil }
        let index = pages[random.below(pages.count)]
        let start = index * SparseBytes.pageSizeBytes
        let count = min(SparseBytes.pageSizeBytes, volatile.sizeBytes - start)
        guard count > 0 else { return nil }
        let page = volatile.page(index)
        // Most of a page may be zeros that were never written to.
        let used = (page.prefix(count).lastIndex { $0 != 0 } ?? 0) + 1
        let byte = random.below(random.once(in: 4) ? count : used)
        var flipped = page
        flipped[byte] ^= 1 << UInt8(random.below(8))
        volatile.setPage(index, flipped)
        durable.setPage(index, flipped)
        return start + byte
    }

    // MARK: Mapped memory

    mutating func addMapping(_ mapping: Mapping) { mappings.append(mapping) }

    mutating func removeMapping(base: UInt) {
        absorb()
        mappings.removeAll { $0.base == base }
    }

    mutating func dropMappings() { mappings = [] }

    /// Takes over what was stored through mappings.
    mutating func absorb() {
        for mapping in mappings { absorb(mapping) }
    }

    private static let chunkPageCount = 16
    private static let zeroChunk = [UInt8](
        repeating: 0, count: chunkPageCount * SparseBytes.pageSizeBytes)

    private mutating func absorb(_ mapping: Mapping) {
        guard let base = UnsafeRawPointer(bitPattern: mapping.base) else { return }
        let size = min(mapping.sizeBytes, volatile.sizeBytes)
        let pageSize = SparseBytes.pageSizeBytes
        let pageCount = (size + pageSize - 1) / pageSize
        var page = 0
        var zeroChunkCount = 0
        while page < pageCount, zeroChunkCount < 4 {
            let end = min(page + Self.chunkPageCount, pageCount)
            // Most of a segment was never written, and is passed over without a look at its pages.
            if page > volatile.highestPage, size >= end * pageSize,
                memcmp(base + page * pageSize, Self.zeroChunk, (end - page) * pageSize) == 0
            {
                page = end
                zeroChunkCount += 1
                continue
            }
            zeroChunkCount = 0
            for index in page..<end { absorbPage(index, base, size) }
            page = end
        }
    }

    private mutating func absorbPage(_ index: Int, _ base: UnsafeRawPointer, _ size: Int) {
        let start = index * SparseBytes.pageSizeBytes
        let count = min(SparseBytes.pageSizeBytes, size - start)
        var page = volatile.page(index)
        if memcmp(base + start, page, count) == 0 { return }
        page.withUnsafeMutableBytes { target in
            target.copyMemory(from: UnsafeRawBufferPointer(start: base + start, count: count))
        }
        volatile.setPage(index, page)
        touch(index)
    }

    // MARK: Syncing

    mutating func sync() {
        absorb()
        for size in sizes { durable.resize(to: size) }
        for page in touched { durable.setPage(page, volatile.page(page)) }
        touched = []
        sizes = [volatile.sizeBytes]
    }

    /// As a kernel does where the disk refuses: each dirty page was written or is given up, and
    /// none is dirty any more.
    mutating func failSync(_ choices: inout some CrashChoices) {
        absorb()
        for page in touched.sorted() {
            if choices.pick(2) == 1, page * SparseBytes.pageSizeBytes < durable.sizeBytes {
                durable.setPage(page, volatile.page(page))
            } else {
                dropped.insert(page)
            }
        }
        touched = []
    }

    // MARK: Crashing

    static let sectorSizeBytes = 512

    /// What a power cut leaves: one of the sizes since the last sync, and of each dirty sector
    /// the old bytes, the new ones, or new ones up to some byte and old ones after.
    func afterPowerCut(_ choices: inout some CrashChoices) -> Inode {
        var content = durable
        let sizeCount = choices.pick(sizes.count) + 1
        if sizeCount < sizes.count { choices.effects.lostSizes += 1 }
        for size in sizes.prefix(sizeCount) { content.resize(to: size) }
        let size = content.sizeBytes
        let lostBefore = choices.effects.lostSectors
        var isReordered = false
        for index in touched.sorted() {
            let page = sectors(of: index, &choices, lostBefore, &isReordered)
            if index * SparseBytes.pageSizeBytes < size { content.setPage(index, page) }
        }
        if isReordered { choices.effects.reorderedFiles += 1 }
        content.resize(to: size + 1)
        content.resize(to: size)
        return Inode(onDisk: content)
    }

    private func sectors(
        of index: Int, _ choices: inout some CrashChoices, _ lostBefore: Int,
        _ isReordered: inout Bool
    ) -> [UInt8] {
        var page = durable.page(index)
        let new = volatile.page(index)
        for start in stride(from: 0, to: page.count, by: Self.sectorSizeBytes) {
            let range = start..<(start + Self.sectorSizeBytes)
            if page[range] == new[range] { continue }
            let kept = choices.pickKeptBytes(ofSector: Self.sectorSizeBytes)
            page.replaceSubrange(start..<(start + kept), with: new[start..<(start + kept)])
            switch kept {
            case 0: choices.effects.lostSectors += 1
            case Self.sectorSizeBytes:
                if choices.effects.lostSectors > lostBefore { isReordered = true }
            default: choices.effects.tornSectors += 1
            }
        }
        return page
    }
}
