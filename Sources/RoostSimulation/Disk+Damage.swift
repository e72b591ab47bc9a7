extension Disk {
    package var fileNames: [String] { entries.volatile.keys.sorted() }

    package func sizeBytes(of file: String) -> Int {
        entries.volatile[file].flatMap { inodes[$0]?.volatile.sizeBytes } ?? 0
    }

    /// The bytes up to the last that is not zero.
    package func usedSizeBytes(of file: String) -> Int {
        guard let content = entries.volatile[file].flatMap({ inodes[$0]?.volatile }) else {
            return 0
        }
        for index in content.pageIndices.reversed() {
            guard let last = content.page(index).lastIndex(where: { $0 != 0 }) else { continue }
            return min(index * SparseBytes.pageSizeBytes + last + 1, content.sizeBytes)
        }
        return 0
    }

    package mutating func remove(_ file: String) {
        guard let inode = entries.volatile[file] else { return }
        entries.make(.unlink(file, inode))
        entries.sync()
    }

    package mutating func cut(_ file: String, to sizeBytes: Int) {
        guard let inode = entries.volatile[file] else { return }
        inodes[inode]?.resize(to: sizeBytes)
        inodes[inode]?.sync()
    }

    package mutating func flip(_ file: String, offset: Int, bit: Int) {
        guard let inode = entries.volatile[file], let content = inodes[inode]?.volatile else {
            return
        }
        let page = content.page(offset / SparseBytes.pageSizeBytes)
        let byte = page[offset % SparseBytes.pageSizeBytes] ^ (1 << UInt8(bit))
        withUnsafeBytes(of: byte) { inodes[inode]?.write($0, at: offset) }
        inodes[inode]?.sync()
    }

    /// Whether both have the same files with the same bytes, as calls see them.
    package func hasSameContent(as other: Disk) -> Bool {
        guard fileNames == other.fileNames else { return false }
        return fileNames.allSatisfy { name in
            guard let left = inodes[entries.volatile[name] ?? 0]?.volatile,
                let right = other.inodes[other.entries.volatile[name] ?? 0]?.volatile,
                left.sizeBytes == right.sizeBytes
            else { return false }
            let pages = Set(left.pageIndices).union(right.pageIndices)
            return pages.allSatisfy { left.page($0) == right.page($0) }
        }
    }
}
