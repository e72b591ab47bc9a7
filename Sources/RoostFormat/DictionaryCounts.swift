import RoostIO

/// What a snapshot holds of each dictionary, in the order of the dictionaries' prefixes, so that
/// counting keys reads no records. docs/FORMAT.md, "Snapshots".
package struct DictionaryCounts: Sendable, Equatable {
    package struct Entry: Sendable, Equatable {
        package var prefix: [UInt8]
        package var putCount: UInt64 = 0
        package var tombstoneCount: UInt64 = 0
        package var minimumSequence = UInt64.max
        package var maximumSequence: UInt64 = 0
        /// When the first of the values expires.
        package var earliestDeadline = Deadline.never

        package init(prefix: [UInt8]) { self.prefix = prefix }
    }

    package private(set) var entries: [Entry] = []
    /// Of the dictionary that records are being added to; its prefix is empty before the first.
    private var current = Entry(prefix: [])

    package init() {}

    /// Counts a record; they come in key order, so a dictionary's are neighbours.
    @inline(__always)
    package mutating func add(
        _ key: UnsafeRawBufferPointer, isPut: Bool, sequence: UInt64, deadline: Deadline = .never
    ) {
        let isInCurrent = current.prefix.withUnsafeBytes { prefix in
            prefix.count > 0 && key.count >= prefix.count
                && compareMemory(key.baseAddress!, prefix.baseAddress!, prefix.count) == 0
        }
        if !isInCurrent { begin(key) }
        if isPut { current.putCount += 1 } else { current.tombstoneCount += 1 }
        if sequence < current.minimumSequence { current.minimumSequence = sequence }
        if sequence > current.maximumSequence { current.maximumSequence = sequence }
        if deadline < current.earliestDeadline { current.earliestDeadline = deadline }
    }

    @inline(never)
    private mutating func begin(_ key: UnsafeRawBufferPointer) {
        finish()
        current = Entry(prefix: Array(key.prefix(1 + Int(key.first ?? 0))))
    }

    /// Called after the last record.
    package mutating func finish() {
        if !current.prefix.isEmpty { entries.append(current) }
        current = Entry(prefix: [])
    }

    package func entry(_ prefix: [UInt8]) -> Entry? {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].prefix.lexicographicallyPrecedes(prefix) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low < entries.count && entries[low].prefix == prefix ? entries[low] : nil
    }

    /// Whether all dictionaries together have at most `recordCount` records.
    package func hasNoMore(than recordCount: UInt64) -> Bool {
        var left = recordCount
        for entry in entries {
            for count in [entry.putCount, entry.tombstoneCount] {
                guard count <= left else { return false }
                left -= count
            }
        }
        return true
    }

    // MARK: On disk

    private static let numberCount = 5

    package func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        for entry in entries {
            for number in [
                entry.putCount, entry.tombstoneCount, entry.minimumSequence, entry.maximumSequence,
                entry.earliestDeadline.milliseconds,
            ] { withUnsafeBytes(of: number.littleEndian) { bytes += $0 } }
            bytes += entry.prefix
        }
        return bytes
    }

    /// `nil` where the bytes, whose checksum holds, make no sense.
    package init?(_ bytes: UnsafeRawBufferPointer, count: Int) {
        var offset = 0
        let numbersSize = 8 * Self.numberCount
        guard count <= bytes.count / (numbersSize + 1) else { return nil }
        for _ in 0..<count {
            guard bytes.count - offset > numbersSize, let base = bytes.baseAddress else {
                return nil
            }
            let start = base + offset
            let prefixCount = 1 + Int(bytes[offset + numbersSize])
            guard bytes.count - offset - numbersSize >= prefixCount else { return nil }
            var entry = Entry(
                prefix: Array(
                    UnsafeRawBufferPointer(start: start + numbersSize, count: prefixCount)))
            entry.putCount = start.load(UInt64.self, at: 0)
            entry.tombstoneCount = start.load(UInt64.self, at: 8)
            entry.minimumSequence = start.load(UInt64.self, at: 16)
            entry.maximumSequence = start.load(UInt64.self, at: 24)
            entry.earliestDeadline = Deadline(milliseconds: start.load(UInt64.self, at: 32))
            offset += numbersSize + prefixCount
            let isInOrder = entries.last?.prefix.lexicographicallyPrecedes(entry.prefix) ?? true
            guard isInOrder, entry.putCount < Limits.number, entry.tombstoneCount < Limits.number
            else { return nil }
            entries.append(entry)
        }
        guard offset == bytes.count else { return nil }
    }
}
