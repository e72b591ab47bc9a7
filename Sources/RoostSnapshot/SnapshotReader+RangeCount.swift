import RoostFormat

extension SnapshotReader {
    /// How many records of a dictionary are in `range`, tombstones too. Reads what the range begins and ends with, and
    /// of the groups between them how many records each has.
    package func recordCount(in range: RecordRange) throws -> Int {
        let first = try range.lower.withUnsafeBytes { try group(for: $0, in: range.prefix) }
        let last =
            try range.upper?.withUnsafeBytes { try group(for: $0, in: range.prefix) }
            ?? groupCount - 1
        if first >= last { return try recordCount(inGroup: first, range) }
        var count = try recordCount(inGroup: first, range)
        for index in (first + 1)..<last { count += RecordGroup.recordCount(try group(index)) }
        return count + (try recordCount(inGroup: last, range))
    }

    /// Of one group, whose records may be before the range or after it.
    private func recordCount(inGroup index: Int, _ range: RecordRange) throws -> Int {
        let group = try group(index)
        var cursor = try cursor(group)
        var key: [UInt8] = []
        footer.firstKey.withBytes { key.append(contentsOf: $0) }
        var count = 0
        while !cursor.isAtEnd {
            guard let record = cursor.next() else {
                throw damaged("a group's records make no sense", at: group.baseAddress!)
            }
            key.removeLast(key.count - record.shared)
            key.append(contentsOf: record.suffix)
            if key.withUnsafeBytes({ range.contains($0) }) { count += 1 }
        }
        return count
    }
}
