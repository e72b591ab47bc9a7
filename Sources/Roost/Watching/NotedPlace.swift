import RoostEngine
import RoostFormat

/// How far a scan of at most `limit` entries comes, for who notes what it looks at.
struct NotedPlace {
    private let prefix: [UInt8]
    private var remaining: Int
    private var last: [UInt8]?

    /// - Parameter prefix: What the keys that are passed do not have of the record keys.
    init(limit: Int, behind prefix: [UInt8] = []) {
        self.prefix = prefix
        remaining = limit
    }

    mutating func pass(_ key: UnsafeRawBufferPointer) {
        remaining -= 1
        if remaining == 0 { last = prefix + key }
    }

    /// All of the range, unless the limit ended the scan.
    func note(_ range: RecordRange, _ order: ScanOrder, _ notes: ReadNotes) {
        notes.note(range, order, behind: last)
    }
}
