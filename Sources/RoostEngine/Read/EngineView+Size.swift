import RoostFormat

extension EngineView {
    /// What cold storage holds of a dictionary, overwritten records and tombstones included, without a
    /// look at any record: about so many bytes.
    package func coldFigures(
        of name: DictionaryName
    ) throws -> (recordCount: UInt64, sizeBytes: UInt64) {
        try checkOpen()
        let range = RecordRange(name)
        var figures: (recordCount: UInt64, sizeBytes: UInt64) = (0, 0)
        for tier in cold.tiers {
            for part in tier.parts[tier.overlapping(range.lower, range.upper)] {
                guard let entry = try part.snapshot.dictionaryCounts().entry(range.prefix) else {
                    continue
                }
                figures.recordCount += entry.putCount + entry.tombstoneCount
                figures.sizeBytes += try part.snapshot.sizeBytes(ofDictionary: range.prefix)
            }
        }
        return figures
    }
}
