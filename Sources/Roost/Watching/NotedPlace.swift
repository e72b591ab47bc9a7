import RoostEngine
import RoostFormat

/// How far a scan of at most `limit` entries comes, for who notes what it looks at.
struct NotedPlace {
    private var remaining: Int
    private var last: [UInt8]?

    init(limit: Int) { remaining = limit }

    mutating func pass(_ recordKey: UnsafeRawBufferPointer) {
        remaining -= 1
        if remaining == 0 { last = Array(recordKey) }
    }

    /// All of the range, unless the limit ended the scan.
    func note(_ range: RecordRange, _ order: ScanOrder, _ notes: ReadNotes) {
        notes.note(range, order, behind: last)
    }
}
