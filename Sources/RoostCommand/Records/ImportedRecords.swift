import Foundation
import Roost
import RoostFormat

/// How many records were written, and how many were not, as they had expired: the key may have had a newer value since.
struct ImportedRecords {
    private(set) var count = 0
    private(set) var expiredCount = 0

    /// Counts the records; returns those that are to be written.
    mutating func take(_ lines: [RecordLine]) -> [StoredRecord] {
        let now = Deadline(milliseconds: UInt64(max(0, Date().timeIntervalSince1970 * 1000)))
        let records = lines.lazy.filter { !$0.isExpired(at: now) }.map(\.record)
        let taken = Array(records)
        count += taken.count
        expiredCount += lines.count - taken.count
        return taken
    }

    func text(_ verb: String? = nil) -> String {
        let text = "\(grouped(count)) records \(verb.map { "\($0) " } ?? "")imported"
        return expiredCount == 0
            ? text : text + ", \(grouped(expiredCount)) passed over, which have expired"
    }
}
