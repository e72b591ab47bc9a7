import RoostFormat
import RoostSnapshot

/// What of a snapshot cannot be read, gathered while its records go by in order. Stretches that follow each other
/// are one, and so is all that needs a compression dictionary that is damaged.
struct SnapshotDamage {
    let hasDictionary: Bool
    private let footer: SnapshotFooter
    private let file: String
    private var readCount = 0
    /// The key that was come to last, and the one before it.
    private var key: SalvageReport.Place?
    private var previous: SalvageReport.Place?
    private var stretches: [SalvageReport.Loss] = []
    /// A stretch whose end has not been found yet.
    private var open: SalvageReport.Loss?
    private var dictionaryLoss: SalvageReport.Loss?
    private var dictionaryLossCount = 0
    private var isBehindDictionaryLoss = false

    init(of snapshot: SnapshotReader) {
        footer = snapshot.footer
        file = FileName.snapshot(footer.number).text
        do {
            _ = try snapshot.dictionary()
            hasDictionary = true
        } catch { hasDictionary = false }
    }

    /// Comes to the next record that could be told from the others; one of the other calls says what it is.
    mutating func move(to place: SalvageReport.Place?) {
        previous = key
        key = place
        if isBehindDictionaryLoss { dictionaryLoss?.before = place }
        isBehindDictionaryLoss = false
    }

    /// The record can be read, or does not matter.
    mutating func passReadable() {
        readCount += 1
        end(before: key)
    }

    /// The record's value is compressed, and the dictionary damaged.
    mutating func passWithoutDictionary() {
        end(before: key)
        dictionaryLossCount += 1
        isBehindDictionaryLoss = true
        if dictionaryLoss == nil { dictionaryLoss = loss(footer.dictionaryOffset, "", previous) }
        dictionaryLoss?.before = nil
    }

    /// What follows the record that was come to cannot be read, up to another that can.
    mutating func begin(_ offset: UInt64, _ reason: String) {
        open = open ?? loss(offset, reason, key)
    }

    /// The value of the record that was come to cannot be read.
    mutating func passUnreadable(_ offset: UInt64, _ reason: String) {
        open = open ?? loss(offset, reason, previous)
    }

    mutating func end(before place: SalvageReport.Place?) {
        guard var loss = open else { return }
        loss.before = place
        stretches.append(loss)
        open = nil
    }

    private func loss(
        _ offset: UInt64, _ reason: String, _ after: SalvageReport.Place?
    ) -> SalvageReport.Loss {
        .init(
            file: file, offset: offset, reason: reason, after: after, sequences: footer.sequences)
    }

    /// To be asked after `end`.
    var losses: [SalvageReport.Loss] {
        guard var dictionaryLoss else { return stretches }
        dictionaryLoss.reason =
            "its compression dictionary is damaged: compressed values are lost, \(dictionaryLossCount) of them known"
        return [dictionaryLoss] + stretches
    }

    /// The records that were not read, those of damaged groups too: the footer, or else the manifest, says how many there
    /// were.
    var lostCount: Int {
        losses.isEmpty ? 0 : max(0, Int(clamping: footer.recordCount) - readCount)
    }
}

extension SnapshotFooter {
    /// `nil` where the footer's numbers are the wrong way round.
    fileprivate var sequences: ClosedRange<UInt64>? {
        minimumSequence <= maximumSequence ? minimumSequence...maximumSequence : nil
    }
}
