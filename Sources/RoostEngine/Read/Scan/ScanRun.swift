import RoostFormat
import RoostSnapshot

/// A sorted run of the log's operations, walked in one direction a batch at a time. For one user at a
/// time.
///
/// - `heads[..<count]` are the batch, and valid until the next; a run that has ended has none.
class ScanRun {
    /// The most that a batch has.
    static let capacity = 64

    final let range: RecordRange
    final let order: ScanOrder
    final let heads: UnsafeMutablePointer<RecordHead>
    private(set) final var count = 0

    init(_ range: RecordRange, _ order: ScanOrder) {
        self.range = range
        self.order = order
        heads = .allocate(capacity: Self.capacity)
    }

    deinit { heads.deallocate() }

    /// Stands before the record nearest to `bound` in the scan's direction: ascending the first that
    /// is not before it, descending the last that is before it. `nil` is after all.
    func move(to bound: [UInt8]?) throws { preconditionFailure("of a kind") }

    /// The next batch.
    func refill() throws { preconditionFailure("of a kind") }

    /// Throws `.io` where a page could not be read of what the run, and not the view's tables, has of the log.
    func checkRead() throws {}

    /// Makes the batch of operations, by their locations; those that are zero are none.
    final func fill(_ locations: UnsafeBufferPointer<UInt>) {
        let prefixCount = range.prefix.count
        let mask: UInt128 = order == .ascending ? 0 : .max
        var head = heads
        for location in locations where location != 0 {
            head.initialize(
                to: RecordHead(
                    Operation(location: location), prefixCount: prefixCount, mask: mask))
            head += 1
        }
        count = head - heads
    }

    /// Removes what the batch has after the range; whether there was anything.
    final func trimBehindRange() -> Bool {
        let before = count
        while count > 0, range.isPast(heads[count - 1].key, order) { count -= 1 }
        return count < before
    }
}

extension RecordRange {
    /// Whether a scan of the range has ended before `key`.
    func isPast(_ key: UnsafeRawBufferPointer, _ order: ScanOrder) -> Bool {
        switch order {
        case .ascending: isPastUpper(key)
        case .descending: lower.withUnsafeBytes { compareBytes(key, $0) < 0 }
        }
    }
}

/// Operations in order, all at once.
final class OperationRun: ScanRun {
    private let locations: [UInt]
    private var next = 0

    init(_ operations: [Operation], _ range: RecordRange, _ order: ScanOrder) {
        let locations = operations.map(\.location)
        self.locations = order == .ascending ? locations : locations.reversed()
        super.init(range, order)
    }

    override func move(to bound: [UInt8]?) {
        guard let bound else { return next = order == .ascending ? locations.count : 0 }
        next = bound.withUnsafeBytes { bound in
            locations.partitionIndex { location in
                let comparison = compareBytes(Operation(location: location).key, bound)
                return order == .ascending ? comparison < 0 : comparison >= 0
            }
        }
    }

    override func refill() {
        let end = min(next + Self.capacity, locations.count)
        locations.withUnsafeBufferPointer { fill(.init(rebasing: $0[next..<end])) }
        next = end
    }
}

extension RandomAccessCollection where Index == Int {
    /// The first place whose element is not before; those that are come first.
    package func partitionIndex(_ isBefore: (Element) -> Bool) -> Int {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = (low + high) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
