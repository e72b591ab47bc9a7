import RoostFormat
import RoostSnapshot

extension EngineView {
    /// The names of the dictionaries of which the log or a snapshot has a record, be it live or not, in the order of
    /// their bytes; without those that the engine's users keep for themselves. For whoever finds that
    /// `dictionaryNames` cannot be told: it reads no record of a snapshot. Costs a look at every key in the log.
    ///
    /// - Throws: `.corrupt` where what a snapshot says of its dictionaries is damaged too, `.io` where a page of
    ///   the log cannot be read.
    package func recordedDictionaryNames() throws -> [[UInt8]] {
        try checkOpen()
        var names: Set<[UInt8]> = []
        func note(_ operation: Operation) {
            guard let (name, _) = splitRecordKey(operation.key) else { return }
            names.insert(Array(name))
        }
        for (shard, part) in parts.enumerated() {
            part.enqueued?.forEach(note)
            part.frozen?.forEach(note)
            for operation in try activeOperations(ofShard: shard, in: .everything) {
                note(operation)
            }
        }
        try checkLogRead()
        for tier in cold.tiers {
            for part in tier.parts {
                for entry in try part.snapshot.dictionaryCounts().entries {
                    names.insert(Array(entry.prefix.dropFirst()))
                }
            }
        }
        return names.filter { $0.first != DictionaryName.hiddenByte }
            .sorted { $0.lexicographicallyPrecedes($1) }
    }
}
