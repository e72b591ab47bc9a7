import RoostFormat
import RoostIO

extension SnapshotReader {
    /// A snapshot whose file does not end with a sound footer, by one that is found elsewhere or amended; `nil`
    /// where there is none.
    ///
    /// - Parameter hashSeed: The manifest's. An amended footer is believed where the index has the key that it says is
    ///   the first, and so not without the seed.
    package static func salvaged(
        number: UInt64, in directory: any Directory, hashSeed: HashSeed?
    ) throws -> SnapshotReader? {
        let file = try directory.openFile(FileName.snapshot(number).text, writable: false)
        let region = try file.contents(sizeBytes: Int(try file.sizeBytes()))
        let search = FooterSearch(region: region, number: number)
        if let footer = search.soundFooter() {
            return SnapshotReader(path: file.path, region, footer)
        }
        guard let hashSeed, let footer = search.amendedFooter() else { return nil }
        let reader = SnapshotReader(path: file.path, region, footer)
        return try reader.hasFirstKeyInIndex(hashSeed) ? reader : nil
    }

    /// Whether the first record's key, which begins with the footer's first key, is in the index: its hash is.
    private func hasFirstKeyInIndex(_ hashSeed: HashSeed) throws -> Bool {
        var cursor = try cursor(try group(0))
        guard let record = cursor.next() else { return false }
        var key = OutputBuffer(capacity: 256)
        footer.firstKey.withBytes { key.append($0) }
        guard record.shared == key.count else { return false }
        key.append(record.suffix)
        return try find(key.bytes, hash: hashSeed.hash(key.bytes))?.sequence == record.sequence
    }

    /// What stands where a group should.
    package enum SalvagedGroup {
        case intact(UnsafeRawBufferPointer, index: Int, offset: Int)
        case damaged(offset: UInt64, RoostError)
    }

    /// Calls `body` with every group in order. Finds those whose offsets are damaged after the
    /// one before them, as groups follow each other without gaps.
    package func forEachSalvagedGroup(_ body: (SalvagedGroup) -> Void) {
        var expected = Int(footer.groupsOffset)
        for index in 0..<groupCount {
            var start = expected
            do {
                start = try offset(ofGroup: index)
            } catch {}  // Then it stands, if anywhere, after the group before it.
            do {
                let group = try group(index, at: start)
                body(.intact(group, index: index, offset: start))
                let size = group.count + RecordGroup.alignment - 1
                expected = start + size / RecordGroup.alignment * RecordGroup.alignment
            } catch {
                let failure =
                    error as? RoostError ?? RoostError(.io, "could not be read", cause: error)
                body(.damaged(offset: UInt64(max(0, start)), failure))
            }
        }
    }
}
