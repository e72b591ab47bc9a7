import RoostFormat
import RoostIO
import Synchronization

extension SnapshotReader {
    /// What values are compressed against. Read and checked at its first use, so that opening a
    /// workspace does not wait for those of all snapshots; from then on the copy counts, whatever
    /// happens to the file.
    package func dictionary() throws -> CompressionDictionary {
        CompressionDictionary(
            bytes: Array(try dictionaryBytes()), recordCount: footer.dictionaryRecordCount)
    }

    /// Valid as long as the reader.
    @inline(__always)
    func dictionaryBytes() throws -> UnsafeRawBufferPointer {
        if let start = UnsafeRawPointer(bitPattern: dictionaryCopy.load(ordering: .acquiring)) {
            return .init(start: start, count: Int(footer.dictionaryCount))
        }
        return try copyDictionary()
    }

    private func copyDictionary() throws -> UnsafeRawBufferPointer {
        let count = Int(footer.dictionaryCount)
        try region.require(offset: Int(footer.dictionaryOffset), count: count)
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(count, 1), alignment: 16)
        let start = UnsafeRawPointer(region.base) + Int(footer.dictionaryOffset)
        copy.copyMemory(from: .init(start: start, count: count))
        let bytes = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(copy)[..<count])
        // Of the copy: the file may change after it.
        guard footer.dictionarySeed.checksum(bytes) == footer.dictionaryChecksum else {
            copy.deallocate()
            throw damaged("the compression dictionary's checksum does not hold", at: start)
        }
        let (isFirst, other) = dictionaryCopy.compareExchange(
            expected: 0, desired: UInt(bitPattern: copy.baseAddress),
            ordering: .acquiringAndReleasing)
        if isFirst { return bytes }
        copy.deallocate()
        return .init(start: UnsafeRawPointer(bitPattern: other), count: count)
    }
}
