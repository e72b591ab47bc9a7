import RoostEngine
import RoostFormat

// Counting makes an object only where its stored bytes do not say whether it matches.

extension QueryRun {
    /// Calls `body` for each match, until it says `false`.
    mutating func countObjects<Source: ObjectSource & ~Copyable>(
        _ source: inout Source, _ body: () throws -> Bool
    ) throws {
        switch plan.access {
        case .nothing: return
        case .scan(let ranges): try scanCounting(ranges, &source, body)
        case .keys(let keys): try countObjects(keys, &source, body)
        case .entries(let all): try countObjects(objectKeys(all, &source), &source, body)
        case .ordered: try forEachMatch(&source, query.objectForm(in: name)) { _, _ in try body() }
        }
    }

    private mutating func countObjects<Source: ObjectSource & ~Copyable>(
        _ keys: [[UInt8]], _ source: inout Source, _ body: () throws -> Bool
    ) throws {
        for key in keys {
            try noteObjectRead()
            let run = self
            let matches = try source.withValue(recordKey: name.prefix + key, in: name) { bytes in
                try bytes.map { bytes in
                    try key.withUnsafeBytes { try run.matches(bytes, $0) }
                }
            }
            if matches == true, try !body() { return }
        }
    }

    private mutating func scanCounting<Source: ObjectSource & ~Copyable>(
        _ ranges: [IndexRegion.Interval], _ source: inout Source, _ body: () throws -> Bool
    ) throws {
        let run = self
        let prefixCount = name.prefix.count
        var isStopped = false
        for range in ranges where !isStopped {
            try source.forEachRecord(
                in: RecordRange(name, lower: range.lower, upper: range.upper), .ascending,
                expectedCount: .max
            ) { recordKey, bytes in
                try noteObjectScanned()
                let key = UnsafeRawBufferPointer(rebasing: recordKey[prefixCount...])
                guard try run.matches(bytes, key) else { return true }
                isStopped = try !body()
                return !isStopped
            }
        }
    }

    private func matches(
        _ bytes: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer
    ) throws -> Bool {
        // Whoever passes objects by that do not decode does not count them, though their fields match.
        if let answer = stored?.answer(bytes), !answer || query.undecodable == nil {
            return answer
        }
        guard let item = try query.decode(bytes, key) else { return false }
        return try withUnsafePointer(to: item) { try query.condition.matches($0) }
    }
}
