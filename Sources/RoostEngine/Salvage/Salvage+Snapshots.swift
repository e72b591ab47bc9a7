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
            do {
                let reader = try snapshotReader(number)
                report.fileCount += 1
                noteDictionary(of: reader)
                snapshots.append(reader)
            } catch let error as RoostError where error.code != .unsupportedVersion {
                noteWrongKey(error)
                let known = all.first { $0.number == number }
                noteLoss(of: known, number: number, reason: error.message, offset: error.offset)
            }
        }
        for index in snapshots.indices {
            let listed = all.first { $0.number == snapshots[index].footer.number }
            noteRecords(ofSnapshot: index, from: listed?.lowerBound ?? [])
        }
    }

    /// The header says nothing that the footer does not say, so that its damage alone costs nothing.
    private func snapshotReader(_ number: UInt64) throws -> SnapshotReader {
        do { return try SnapshotReader(number: number, in: directory) } catch let error
            as RoostError
            where error.code == .corrupt || error.code == .unsupportedVersion
        {
            // Where the footer is damaged too, or of that version, the first error says what is wrong.
            guard
                let reader = try? SnapshotReader(
                    number: number, in: directory, ignoresHeader: true)
            else { throw error }
            return reader
        }
    }

    private mutating func noteDictionary(of reader: SnapshotReader) {
        do { _ = try reader.dictionary() } catch {
            report.losses.append(
                .init(
                    file: FileName.snapshot(reader.footer.number).text,
                    offset: reader.footer.dictionaryOffset,
                    reason: "its compression dictionary is damaged: compressed values are lost",
                    sequences: reader.footer.sequences))
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
        report.losses.append(loss)
    }

    /// What stands before `lowerBound` a merge has taken over, and perhaps left out.
    private mutating func noteRecords(ofSnapshot index: Int, from lowerBound: [UInt8]) {
        let snapshot = snapshots[index]
        var damage = OpenDamage(
            file: FileName.snapshot(snapshot.footer.number).text,
            sequences: snapshot.footer.sequences)
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
    }

    private mutating func noteRecords(
        of group: UnsafeRawBufferPointer, in snapshot: SnapshotReader, from lowerBound: [UInt8],
        at location: Location,
        _ damage: inout OpenDamage
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
            damage.end(before: place)
            damage.lastKey = place
            if lowerBound.withUnsafeBytes({ compareBytes(key.bytes, $0) < 0 }) { continue }
            if isReadable(record, of: snapshot) {
                note(Array(key.bytes), record.sequence, isPut: record.isPut, at: location)
            } else {
                damage.begin(offset(record.suffix.baseAddress!), "a value does not decompress")
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

/// A damaged stretch of a snapshot whose end has not been found yet, and those before it.
private struct OpenDamage {
    let file: String
    let sequences: ClosedRange<UInt64>?
    var lastKey: SalvageReport.Place?
    var losses: [SalvageReport.Loss] = []
    private var open: SalvageReport.Loss?

    init(file: String, sequences: ClosedRange<UInt64>?) {
        self.file = file
        self.sequences = sequences
    }

    mutating func begin(_ offset: UInt64, _ reason: String) {
        open =
            open
            ?? .init(
                file: file, offset: offset, reason: reason, after: lastKey, sequences: sequences)
    }

    mutating func end(before place: SalvageReport.Place?) {
        guard var loss = open else { return }
        loss.before = place
        losses.append(loss)
        open = nil
    }
}

extension SnapshotFooter {
    /// `nil` where the footer's numbers are the wrong way round.
    fileprivate var sequences: ClosedRange<UInt64>? {
        minimumSequence <= maximumSequence ? minimumSequence...maximumSequence : nil
    }
}
