import RoostFormat

extension EngineView {
    /// How many keys a dictionary has.
    package func count(of name: DictionaryName) throws -> Int {
        try countLive(in: name).count
    }

    /// How many keys a dictionary has, and when the first of their values expires.
    func countLive(in name: DictionaryName) throws -> (count: Int, earliestDeadline: Deadline) {
        var count = 0
        var earliest = Deadline.never
        let scan = try scan(name)
        while scan.recordKey != nil {
            count += 1
            earliest = min(earliest, scan.deadline)
            try scan.moveToNext()
        }
        return (count, earliest)
    }
}
