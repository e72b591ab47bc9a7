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

    /// Of the two that the file has the second is read where the first is damaged: a few bytes would else cost every
    /// compressed value.
    private func copyDictionary() throws -> UnsafeRawBufferPointer {
        do { return try copyDictionary(at: Int(footer.dictionaryOffset)) } catch {
            // Where both are damaged, the first one's error is the one to tell.
            guard let second = footer.secondDictionaryOffset,
                let bytes = try? copyDictionary(at: Int(second))
            else { throw error }
            return bytes
        }
    }

    /// Throws where one of the two is damaged.
    package func checkBothDictionaries() throws {
        try checkedDictionary(at: Int(footer.dictionaryOffset)).deallocate()
        guard let second = footer.secondDictionaryOffset else { return }
        try checkedDictionary(at: Int(second)).deallocate()
    }

    /// A copy of the dictionary at `offset`, which the caller frees.
    private func checkedDictionary(at offset: Int) throws -> UnsafeMutableRawBufferPointer {
        let count = Int(footer.dictionaryCount)
        try region.require(offset: offset, count: count)
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(count, 1), alignment: 16)
        let start = UnsafeRawPointer(region.base) + offset
        copy.copyMemory(from: .init(start: start, count: count))
        let bytes = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(copy)[..<count])
        // Of the copy: the file may change after it.
        guard footer.dictionarySeed.checksum(bytes) == footer.dictionaryChecksum else {
            copy.deallocate()
            throw damaged("the compression dictionary's checksum does not hold", at: start)
        }
        return copy
    }

    private func copyDictionary(at offset: Int) throws -> UnsafeRawBufferPointer {
        let copy = try checkedDictionary(at: offset)
        let count = Int(footer.dictionaryCount)
        let (isFirst, other) = dictionaryCopy.compareExchange(
            expected: 0, desired: UInt(bitPattern: copy.baseAddress),
            ordering: .acquiringAndReleasing)
        if isFirst {
            return UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(copy)[..<count])
        }
        copy.deallocate()
        return .init(start: UnsafeRawPointer(bitPattern: other), count: count)
    }
}
