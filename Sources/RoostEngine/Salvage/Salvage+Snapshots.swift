import RoostFormat
import RoostIO
import RoostSnapshot

extension Salvage {
    mutating func readSnapshots() throws {
        let all = manifest?.snapshots ?? []
        let listed = manifest.map { _ in all.map(\.number) }
        var numbers: [UInt64] = []
        for case .snapshot(let number)? in entries.map({ FileName($0.name) })
        where listed?.contains(number) ?? true { numbers.append(number) }
        for snapshot in all where !numbers.contains(snapshot.number) {
            noteLoss(of: snapshot, reason: "the manifest lists it and it is not there", offset: nil)
        }
        for number in numbers.sorted() {
            let known = all.first { $0.number == number }
            do {
                let reader = try snapshotReader(number, listed: known)
                report.fileCount += 1
                snapshots.append(reader)
            } catch let error as RoostError where error.code != .unsupportedVersion {
                noteWrongKey(error)
                noteLoss(of: known, number: number, reason: error.message, offset: error.offset)
            }
        }
        for index in snapshots.indices {
            let listed = all.first { $0.number == snapshots[index].footer.number }
            noteRecords(ofSnapshot: index, from: listed?.lowerBound ?? [])
            opened = []
        }
    }

    /// The values are read in the order of their keys, which walks through each tier once: there are fewer tiers.
    private static let openedCount = 16

    /// A snapshot to be read from. What is opened of a sealed one is given back once others were read: all together are
    /// as much as the workspace has.
    mutating func reader(ofSnapshot index: Int) -> SnapshotReader {
        if let place = opened.lastIndex(where: { $0.index == index }) {
            let known = opened.remove(at: place)
            opened.append(known)
            return known.reader
        }
        var reader = snapshots[index]
        do {
            reader = try reader.apart(always: true) ?? reader
        } catch {}  // Then it is read as the others are, and says itself what is wrong with it.
        if opened.count == Self.openedCount { opened.removeFirst() }
        opened.append((index, reader))
        return reader
    }

    /// The header says nothing that the footer does not say, so that its damage alone costs nothing; and without the
    /// footer the groups are found by what stands in front of them.
    private func snapshotReader(
        _ number: UInt64, listed: ManifestRecord.Snapshot?
    ) throws -> SnapshotReader {
        do { return try SnapshotReader(number: number, in: directory) } catch let error
            as RoostError
            where error.code == .corrupt || error.code == .unsupportedVersion
        {
            // Where nothing helps, the first error says what is wrong.
            if let reader = try? SnapshotReader(number: number, in: directory, ignoresHeader: true)
            {
                return reader
            }
            guard
                let reader = try? SnapshotReader.withoutFooter(
                    number: number, listed: listed, in: directory)
            else { throw error }
            return reader
        }
    }

    private mutating func noteLoss(
        of snapshot: ManifestRecord.Snapshot?, number: UInt64? = nil, reason: String,
        offset: UInt64?
    ) {
        var loss = SalvageReport.Loss(
            file: FileName.snapshot(snapshot?.number ?? number ?? 0).text, offset: offset,
            reason: reason)
        if let snapshot, snapshot.minimumSequence <= snapshot.maximumSequence {
            loss.sequences = snapshot.minimumSequence...snapshot.maximumSequence
        }
        if let snapshot {
            report.lostRecordCount += Int(clamping: snapshot.recordCount)
        } else {
            report.isLossCounted = false
        }
        report.losses.append(loss)
    }

    /// What stands before `lowerBound` a merge has taken over, and perhaps left out.
    private mutating func noteRecords(ofSnapshot index: Int, from lowerBound: [UInt8]) {
        let snapshot = reader(ofSnapshot: index)
        // How many there were neither the footer nor the manifest says.
        if snapshot.footer.recordCount == 0 { report.isLossCounted = false }
        var damage = SnapshotDamage(of: snapshot)
        snapshot.forEachSalvagedGroup { salvaged in
            switch salvaged {
            case .damaged(let offset, let error): damage.begin(offset, error.message)
            case .intact(let group, let number, let offset):
                noteRecords(
                    of: group, in: snapshot, from: lowerBound,
                    at: .group(snapshot: index, index: number, offset: offset),
                    &damage)
            }
        }
        damage.end(before: nil)
        report.losses += damage.losses
        report.lostRecordCount += damage.lostCount
    }

    private mutating func noteRecords(
        of group: UnsafeRawBufferPointer, in snapshot: SnapshotReader, from lowerBound: [UInt8],
        at location: Location,
        _ damage: inout SnapshotDamage
    ) {
        func offset(_ address: UnsafeRawPointer) -> UInt64 {
            UInt64(address - UnsafeRawPointer(snapshot.region.base))
        }
        let senseless = "a group's records make no sense"
        let firstKey = snapshot.footer.firstKey
        guard var cursor = RecordGroup.Cursor(group, firstKeyCount: firstKey.count) else {
            return damage.begin(offset(group.baseAddress!), senseless)
        }
        var key = OutputBuffer(capacity: 256)
        firstKey.withBytes { key.append($0) }
        while !cursor.isAtEnd {
            guard let record = cursor.next() else {
                return damage.begin(offset(group.baseAddress!), senseless)
            }
            key.count = record.shared
            key.append(record.suffix)
            let place = Self.place(key.bytes)
            damage.move(to: place)
            if lowerBound.withUnsafeBytes({ compareBytes(key.bytes, $0) < 0 }) {
                damage.passReadable()
            } else if record.isPut, record.flags.isCompressed, !damage.hasDictionary {
                damage.passWithoutDictionary()
            } else if isReadable(record, of: snapshot) {
                damage.passReadable()
                note(Array(key.bytes), record.sequence, isPut: record.isPut, at: location)
            } else {
                damage.passUnreadable(
                    offset(record.suffix.baseAddress!), "a value does not decompress")
            }
        }
    }

    private func isReadable(_ record: RecordGroup.Record, of snapshot: SnapshotReader) -> Bool {
        guard record.isPut, record.flags.isCompressed else { return true }
        do {
            try snapshot.withValue(of: record) { _ in }
            return true
        } catch { return false }
    }
}
