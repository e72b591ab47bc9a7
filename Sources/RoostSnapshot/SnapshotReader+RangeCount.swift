import RoostFormat

extension SnapshotReader {
    /// How many records of a dictionary are in `range`, tombstones too. Reads what the range begins and ends with, and
    /// of the groups between them, once, how many records each has.
    package func recordCount(in range: RecordRange) throws -> Int {
        let first = try range.lower.withUnsafeBytes { try group(for: $0, in: range.prefix) }
        let last =
            try range.upper?.withUnsafeBytes { try group(for: $0, in: range.prefix) }
            ?? groupCount - 1
        if first >= last { return try recordCount(inGroup: first, range) }
        return try recordCount(inGroup: first, range)
            + recordCount(ofGroups: (first + 1)..<last, range.prefix)
            + recordCount(inGroup: last, range)
    }

    /// Of groups that have nothing but records of the dictionary.
    private func recordCount(ofGroups groups: Range<Int>, _ prefix: [UInt8]) throws -> Int {
        if groups.isEmpty { return 0 }
        let known = fences.withLock { $0.dictionaries[prefix]?.recordCount(of: groups) }
        let unknown = known?.unknown ?? Array(groups)
        var count = known?.count ?? 0
        if unknown.isEmpty { return count }
        // Each is read and checked, which takes longer than others should wait for the fences.
        let found = try unknown.map { RecordGroup.recordCount(try group($0)) }
        count += found.reduce(0, +)
        fences.withLock { cache in
            for (index, counted) in zip(unknown, found) {
                cache.dictionaries[prefix]?.note(counted, ofGroup: index)
            }
        }
        return count
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
