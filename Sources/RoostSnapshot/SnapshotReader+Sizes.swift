import RoostFormat

extension SnapshotReader {
    /// About how many bytes the records of the dictionary `prefix` take, on disk: the groups that begin
    /// with one of them, or where none does the share that its records are of all. Costs a search.
    package func sizeBytes(ofDictionary prefix: [UInt8]) throws -> UInt64 {
        guard let entry = try dictionaryCounts().entry(prefix),
            let next = successor(ofPrefix: prefix)
        else { return 0 }
        let groupsEnd = Int(footer.offsetsOffset)
        let groups = try prefix.withUnsafeBytes { prefix in
            try next.withUnsafeBytes { next in
                let first = try firstGroup(
                    beginningBehind: prefix, orAt: true, in: 0..<groupCount)
                return
                    first..<(try firstGroup(
                        beginningBehind: next, orAt: true, in: first..<groupCount))
            }
        }
        guard !groups.isEmpty else {
            let share =
                Double(entry.putCount + entry.tombstoneCount) / Double(max(1, footer.recordCount))
            return UInt64(share * Double(groupsEnd - Int(footer.groupsOffset)))
        }
        let end =
            groups.upperBound == groupCount ? groupsEnd : try offset(ofGroup: groups.upperBound)
        return UInt64(max(0, end - (try offset(ofGroup: groups.lowerBound))))
    }
}
