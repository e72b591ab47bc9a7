import Foundation
import Roost

/// Copies records from one store into another, whichever kinds they are of.
///
/// A piece at a time: the records of the source that the target has as they are stay, which is how a copy that
/// was interrupted goes on where it was; the others are written, read back, and compared.
struct RecordCopy {
    let source: any RecordStore
    let target: any RecordStore
    /// Of the source.
    var range: StoredRange
    /// What its dictionary is called in the target.
    var newName: String?

    struct Report: Sendable, Equatable {
        /// Of the source.
        var recordCount = 0
        /// Those of them that the target did not have as they are.
        var writtenCount = 0
    }

    private static let pieceCount = 500
    private static let pieceSizeBytes = 1 << 20

    /// - Parameter note: told after each piece, with the fraction that is done where that is known.
    /// - Throws: what reading and writing throws; `Failure` where the target does not have what was
    ///   written, which another writer may have changed. What was copied stays.
    func run(_ note: (Report, Double?) -> Void = { _, _ in }) async throws -> Report {
        let total = try await source.recordCount(of: range)
        let cursor = try await source.records(range)
        var report = Report()
        var next = try await cursor.next()
        while let first = next {
            var piece: [StoredRecord] = []
            var sizeBytes = 0
            // Not `==` of strings, which takes canonically equal names for one.
            while let record = next, record.dictionary.utf8.elementsEqual(first.dictionary.utf8),
                piece.count < Self.pieceCount, sizeBytes < Self.pieceSizeBytes
            {
                piece.append(renamed(record))
                sizeBytes += record.value.payload.count + record.key.utf8.count
                next = try await cursor.next()
            }
            report.recordCount += piece.count
            report.writtenCount += try await copy(piece)
            note(report, total.map { Double(report.recordCount) / Double(max(1, $0)) })
        }
        try await target.synchronize()
        return report
    }

    private func renamed(_ record: StoredRecord) -> StoredRecord {
        var record = record
        if let newName { record.dictionary = newName }
        return record
    }

    private func copy(_ piece: [StoredRecord]) async throws -> Int {
        let missing = try await missing(of: piece)
        guard !missing.isEmpty else { return 0 }
        for record in missing {
            do { try target.check(record) } catch var error as RoostError {
                error.message =
                    "\"\(record.key.prefix(60))\" in \"\(record.dictionary)\": \(error.message)"
                throw error
            }
        }
        try await target.write(missing)
        if let lost = try await self.missing(of: missing).first {
            throw Failure(
                .failed,
                "\"\(lost.key)\" in \"\(lost.dictionary)\" is not in the target as it was written: does another program write there?"
            )
        }
        return missing.count
    }

    /// The records of a piece, which are of one dictionary, that the target does not have as they are. What has
    /// expired is missed by nobody.
    private func missing(of piece: [StoredRecord]) async throws -> [StoredRecord] {
        let keys = piece.map(\.key).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        var range = StoredRange(dictionary: piece[0].dictionary)
        range.from = keys[0]
        range.below = keys[keys.count - 1] + "\0"
        let cursor = try await target.records(range)
        var values: [[UInt8]: StoredValue] = [:]
        let wanted = Set(keys.map { Array($0.utf8) })
        while let record = try await cursor.next() {
            let key = Array(record.key.utf8)
            if wanted.contains(key) { values[key] = record.value }
        }
        let now = UInt64(Date().timeIntervalSince1970 * 1000)
        return piece.filter { record in
            guard values[Array(record.key.utf8)] != record.value else { return false }
            guard let deadline = record.value.plain?.deadlineMilliseconds else { return true }
            return deadline > now
        }
    }
}
