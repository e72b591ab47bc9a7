import RoostTestSupport

/// Records in key order whose keys often begin one another and share long prefixes.
func randomRecords(_ count: Int, _ random: inout SeededGenerator) -> [SampleRecord] {
    var keys: Set<[UInt8]> = []
    while keys.count < count {
        var key: [UInt8] = [1, 65]
        if random.once(in: 2), let other = keys.randomElement(using: &random) {
            key = Array(other.prefix(2 + random.below(other.count)))
        }
        for _ in 0..<random.below(6) { key.append([0, 1, 97, 98, 255][random.below(5)]) }
        if random.once(in: 50) { key += random.bytes(300) }
        keys.insert(key)
    }
    return keys.sorted { $0.lexicographicallyPrecedes($1) }.map { key in
        let value: [UInt8]? =
            switch random.below(8) {
            case 0: nil
            case 1: []
            case 2: random.bytes(random.below(3_000))
            default: Array("value of \(key.count) bytes, again and again, \(random.below(9))".utf8)
            }
        return SampleRecord(key: key, sequence: 1_000 + UInt64(random.below(2_000)), value: value)
    }
}
