import RoostFormat
import RoostIO

/// For salvage: the groups of a snapshot of which not all is as it was written.
extension SnapshotReader {
    /// What stands where a group should.
    package enum SalvagedGroup {
        case intact(UnsafeRawBufferPointer, index: Int, offset: Int)
        case damaged(offset: UInt64, RoostError)
    }

    /// A snapshot without its footer, by what stands in front of its groups; `nil` where that is damaged too. Its groups
    /// can be stepped through and read, and no more than that: it has no index and no counts.
    ///
    /// - Parameter listed: What the manifest says of it.
    package static func withoutFooter(
        number: UInt64, listed: ManifestRecord.Snapshot?, in directory: any Directory
    ) throws -> SnapshotReader? {
        let file = try directory.openFile(FileName.snapshot(number).text, writable: false)
        let region = try file.contents(sizeBytes: Int(try file.sizeBytes()))
        guard var footer = preface(ofSnapshot: number, in: region) else { return nil }
        footer.fileSizeBytes = UInt64(region.sizeBytes)
        footer.offsetsOffset = UInt64(region.sizeBytes)
        footer.recordCount = listed?.recordCount ?? 0
        footer.minimumSequence = listed?.minimumSequence ?? .max
        footer.maximumSequence = listed?.maximumSequence ?? 0
        return SnapshotReader(path: file.path, region, footer)
    }

    /// Its place depends on the compression dictionary's length, which only it says where the footer does not.
    private static func preface(ofSnapshot number: UInt64, in region: MappedRegion)
        -> SnapshotFooter?
    {
        let last = min(
            SnapshotPreface.offset(dictionaryCount: Limits.compressionDictionarySizeBytes),
            region.sizeBytes - SnapshotPreface.sizeBytes)
        for offset in stride(
            from: SnapshotFooter.headerSizeBytes, through: last, by: RecordGroup.alignment)
        {
            // A part of a sealed file that does not open has none that could be read.
            do { try region.require(offset: offset, count: SnapshotPreface.sizeBytes) } catch {
                continue
            }
            let start = UnsafeRawPointer(region.base) + offset
            if let footer = SnapshotPreface.read(start, at: offset, number: number) {
                return footer
            }
        }
        return nil
    }

    /// Only such a reader has no groups by its footer.
    package var hasFooter: Bool { footer.groupCount > 0 }

    /// Throws where what stands in front of the groups is not what the footer says.
    package func checkPreface() throws {
        guard let offset = footer.prefaceOffset else { return }
        try region.require(offset: Int(offset), count: SnapshotPreface.sizeBytes)
        let start = UnsafeRawPointer(region.base) + Int(offset)
        guard SnapshotPreface.isIntact(start, of: footer) else {
            throw damaged("what is said in front of the groups is damaged", at: start)
        }
    }

    /// Calls `body` with every group in order. Finds those whose offsets are damaged after the
    /// one before them, as groups follow each other without gaps.
    package func forEachSalvagedGroup(_ body: (SalvagedGroup) -> Void) {
        guard hasFooter else { return forEachFoundGroup(body) }
        var expected = Int(footer.groupsOffset)
        for index in 0..<groupCount {
            var start = expected
            do {
                start = try offset(ofGroup: index)
            } catch {}  // Then it stands, if anywhere, after the group before it.
            do {
                let group = try group(index, at: start)
                body(.intact(group, index: index, offset: start))
                expected = Self.end(of: group, at: start)
            } catch {
                let failure =
                    error as? RoostError ?? RoostError(.io, "could not be read", cause: error)
                body(.damaged(offset: UInt64(max(0, start)), failure))
            }
        }
    }

    /// Where the next group begins.
    static func end(of group: UnsafeRawBufferPointer, at start: Int) -> Int {
        start + RecordGroup.padded(group.count)
    }
}
