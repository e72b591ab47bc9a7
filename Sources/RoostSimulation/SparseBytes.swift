/// The content of a simulated file: pages of 4 KiB, of which those that were never written are
/// absent and read as zeros. A value, so that keeping what a file was costs a reference.
package struct SparseBytes: Sendable {
    package static let pageSizeBytes = 4096
    static let zeroPage = [UInt8](repeating: 0, count: pageSizeBytes)

    package private(set) var sizeBytes = 0
    private var pages: [Int: [UInt8]] = [:]
    /// No page after this one was ever written.
    private(set) var highestPage = -1

    package init() {}

    func page(_ index: Int) -> [UInt8] { pages[index] ?? Self.zeroPage }
    func hasPage(_ index: Int) -> Bool { pages[index] != nil }
    var pageIndices: [Int] { pages.keys.sorted() }

    mutating func setPage(_ index: Int, _ bytes: [UInt8]) {
        pages[index] = bytes
        highestPage = max(highestPage, index)
    }

    /// After the last page that was written.
    var writtenEnd: Int { min((highestPage + 1) * Self.pageSizeBytes, sizeBytes) }

    /// Cuts the file, or lengthens it with zeros.
    mutating func resize(to sizeBytes: Int) {
        defer { self.sizeBytes = sizeBytes }
        guard sizeBytes < self.sizeBytes else { return }
        let last = sizeBytes / Self.pageSizeBytes
        for index in pages.keys where index > last { pages[index] = nil }
        if var page = pages[last] {
            for offset in (sizeBytes % Self.pageSizeBytes)..<Self.pageSizeBytes { page[offset] = 0 }
            pages[last] = page
        }
        highestPage = min(highestPage, last)
    }

    /// Writes within pages and lengthens the file where needed; returns the pages it touched.
    mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Range<Int> {
        guard !bytes.isEmpty else { return 0..<0 }
        if offset + bytes.count > sizeBytes { resize(to: offset + bytes.count) }
        let first = offset / Self.pageSizeBytes
        let end = (offset + bytes.count - 1) / Self.pageSizeBytes + 1
        for index in first..<end {
            let start = index * Self.pageSizeBytes
            let lower = max(offset, start)
            let upper = min(offset + bytes.count, start + Self.pageSizeBytes)
            var page = page(index)
            page.withUnsafeMutableBytes { target in
                let source = UnsafeRawBufferPointer(
                    rebasing: bytes[(lower - offset)..<(upper - offset)])
                UnsafeMutableRawBufferPointer(rebasing: target[(lower - start)...]).copyMemory(
                    from: source)
            }
            setPage(index, page)
        }
        return first..<end
    }

    var contents: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: sizeBytes)
        bytes.withUnsafeMutableBytes { copy(to: $0, at: 0) }
        return bytes
    }

    /// Copies what stands at `offset` into `target`, which holds zeros.
    func copy(to target: UnsafeMutableRawBufferPointer, at offset: Int) {
        guard !target.isEmpty else { return }
        let first = offset / Self.pageSizeBytes
        let last = (offset + target.count - 1) / Self.pageSizeBytes
        for (index, page) in pages where index >= first && index <= last {
            let start = index * Self.pageSizeBytes
            let lower = max(offset, start)
            let upper = min(offset + target.count, start + Self.pageSizeBytes)
            page.withUnsafeBytes { source in
                UnsafeMutableRawBufferPointer(rebasing: target[(lower - offset)...]).copyMemory(
                    from: .init(rebasing: source[(lower - start)..<(upper - start)]))
            }
        }
    }
}
