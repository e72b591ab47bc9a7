import RoostEngine
import RoostFormat

extension Engine {
    /// All that readers see, by scanning; each value is also looked up by its key.
    func content() throws -> History.Content {
        let view = try view()
        defer { view.close() }
        let content = try view.content()
        for (dictionary, values) in content {
            for (key, stored) in values where try value(key, DictionaryName(dictionary)!) != stored
            {
                throw SimulationFailure("a look-up of \(dictionary)/\(key) and a scan differ")
            }
        }
        return content
    }

    /// One value by its key, kind included.
    func value(_ key: String, _ name: DictionaryName) throws -> [UInt8]? {
        guard let found = try find(key, name: name) else { return nil }
        return withExtendedLifetime(found.owner) { Array(found.bytes) }
    }
}

extension EngineView {
    func content() throws -> History.Content {
        var content: History.Content = [:]
        for bytes in try dictionaryNames() {
            let dictionary = String(decoding: bytes, as: UTF8.self)
            guard let name = DictionaryName(dictionary) else { continue }
            var values: [String: [UInt8]] = [:]
            let scan = try scan(name)
            while let recordKey = scan.recordKey, let parts = splitRecordKey(recordKey) {
                let key = String(decoding: parts.key, as: UTF8.self)
                values[key] = try scan.withValue { Array($0) }
                try scan.moveToNext()
            }
            content[dictionary] = values
            try checkOtherWays(
                into: name, values.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        }
        return content
    }

    /// A count, a scan down, and short scans from inside of the range say what the whole scan says.
    private func checkOtherWays(into name: DictionaryName, _ keys: [String]) throws {
        guard try count(of: name) == keys.count else {
            throw SimulationFailure("the count of \(name.name) is not that of its keys")
        }
        let all = RecordRange(name)
        let down = try self.keys(in: all, .descending, limit: .max)
        guard down == keys.reversed() else {
            throw SimulationFailure("a scan down \(name.name) shows \(down), not \(keys)")
        }
        for place in [keys.count / 3, keys.count / 2] where place < keys.count {
            let bound = Array(keys[place].utf8)
            let above = RecordRange(name, lower: bound, upper: nil)
            let below = RecordRange(name, lower: [], upper: bound)
            guard try self.keys(in: above, .ascending, limit: 5) == Array(keys[place...].prefix(5)),
                try self.keys(in: below, .descending, limit: 5)
                    == Array(keys[..<place].reversed().prefix(5))
            else { throw SimulationFailure("a short scan of \(name.name) shows other keys") }
        }
    }

    private func keys(
        in range: RecordRange, _ order: ScanOrder, limit: Int
    ) throws -> [String] {
        let scan = try scan(range, order, limit: limit)
        var keys: [String] = []
        while keys.count < limit, let recordKey = scan.recordKey,
            let parts = splitRecordKey(recordKey)
        {
            keys.append(String(decoding: parts.key, as: UTF8.self))
            try scan.moveToNext()
        }
        return keys
    }
}

/// The store did what it must not.
package struct SimulationFailure: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}
