import RoostFormat

extension EngineView {
    /// How many keys a dictionary has.
    package func count(of name: DictionaryName) throws -> Int {
        var count = 0
        let scan = try scan(name)
        while scan.recordKey != nil {
            count += 1
            try scan.moveToNext()
        }
        return count
    }
}
