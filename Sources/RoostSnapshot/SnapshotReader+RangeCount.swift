import RoostFormat

extension SnapshotReader {
    /// What the records of a dictionary in `range` make of a count of its keys: one more for each put, and one
    /// less for each key that `isOlder` says is live in what is older than the snapshot; `nil` where nothing is.
    ///
    /// - What is older may be merged, and stays the same keys: so a group's sum stays good as long as the snapshot.
    ///   Reads what the range begins and ends with, and each of the groups between them once.
    /// - Parameter arePuts: Whether the dictionary has no tombstones here.
    package func countChange(
        in range: RecordRange, arePuts: Bool, _ isOlder: ((UnsafeRawBufferPointer) throws -> Bool)?
    ) throws -> Int {
        let first = try range.lower.withUnsafeBytes { try group(for: $0, in: range.prefix) }
        let last =
            try range.upper?.withUnsafeBytes { try group(for: $0, in: range.prefix) }
            ?? groupCount - 1
        func change(ofGroup index: Int) throws -> Int {
            try countChange(ofGroup: index, in: range, isOlder)
        }
        if first >= last { return try change(ofGroup: first) }
        let inside = (first + 1)..<last
        let known = fences.withLock { $0.dictionaries[range.prefix]?.change(of: inside) }
        let unknown = known?.unknown ?? Array(inside)
        var sum = try change(ofGroup: first) + change(ofGroup: last) + (known?.sum ?? 0)
        if unknown.isEmpty { return sum }
        // Each is read and checked, which takes longer than others should wait for the fences.
        let found = try unknown.map { index in
            guard arePuts && isOlder == nil else { return try change(ofGroup: index) }
            // They have nothing but records of the range.
            let group = try group(index)
            let count = RecordGroup.recordCount(group)
            try checkRead(group)
            return count
        }
        sum += found.reduce(0, +)
        fences.withLock { cache in
            for (index, change) in zip(unknown, found) {
                cache.dictionaries[range.prefix]?.note(change, ofGroup: index)
            }
        }
        return sum
    }

    /// Of one group, whose records may be before the range or after it.
    private func countChange(
        ofGroup index: Int, in range: RecordRange,
        _ isOlder: ((UnsafeRawBufferPointer) throws -> Bool)?
    ) throws -> Int {
        let group = try group(index)
        var cursor = try cursor(group)
        var key: [UInt8] = []
        footer.firstKey.withBytes { key.append(contentsOf: $0) }
        var change = 0
        while !cursor.isAtEnd {
            guard let record = cursor.next() else {
                throw damaged("a group's records make no sense", at: group.baseAddress!)
            }
            key.removeLast(key.count - record.shared)
            key.append(contentsOf: record.suffix)
            try key.withUnsafeBytes { key in
                guard range.contains(key) else { return }
                change += record.isPut ? 1 : 0
                if let isOlder, try isOlder(key) { change -= 1 }
            }
        }
        try checkRead(group)
        return change
    }
}
