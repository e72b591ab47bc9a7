import RoostFormat
import RoostIO

extension SnapshotReader {
    /// About how many bytes the records of the dictionary `prefix` take, on disk: the groups that begin
    /// with one of them, or the share that its records are of all, where none does or a group at an end of them
    /// is damaged. Costs a search.
    package func sizeBytes(ofDictionary prefix: [UInt8]) throws -> UInt64 {
        guard let entry = try dictionaryCounts().entry(prefix),
            let next = successor(ofPrefix: prefix)
        else { return 0 }
        // Damage is told by whoever reads the records, of this dictionary or of its neighbour.
        do {
            if let bytes = try sizeBytes(ofGroupsFrom: prefix, to: next) { return bytes }
        } catch let error as RoostError where error.code == .corrupt {}
        let share =
            Double(entry.putCount + entry.tombstoneCount) / Double(max(1, footer.recordCount))
        return UInt64(share * Double(Int(footer.groupsEnd) - Int(footer.groupsOffset)))
    }

    /// The bytes of the groups that begin at `lower` or behind it, and before `upper`; `nil` where there are none.
    private func sizeBytes(ofGroupsFrom lower: [UInt8], to upper: [UInt8]) throws -> UInt64? {
        let groups = try lower.withUnsafeBytes { lower in
            try upper.withUnsafeBytes { upper in
                let first = try firstGroup(
                    beginningBehind: lower, orAt: true, in: 0..<groupCount)
                return
                    first..<(try firstGroup(
                        beginningBehind: upper, orAt: true, in: first..<groupCount))
            }
        }
        if groups.isEmpty { return nil }
        let end =
            groups.upperBound == groupCount
            ? Int(footer.groupsEnd) : try offset(ofGroup: groups.upperBound)
        return UInt64(max(0, end - (try offset(ofGroup: groups.lowerBound))))
    }
}
