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
        }
        return content
    }
}

/// The store did what it must not.
package struct SimulationFailure: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}
