import Foundation
import Synchronization

/// What many apps have: a dictionary in memory, encoded anew and written atomically as a binary
/// property list at each set.
final class PropertyListEngine: KeyValueEngine {
    static let name = "plist"
    static let settings = "binary, the whole file written beside and renamed at each set"
    static let abilities = EngineAbilities(isWholeFile: true, durabilities: [.process])

    private let url: URL
    private let values: Mutex<[String: Data]>

    private init(url: URL, values: [String: Data]) {
        self.url = url
        self.values = Mutex(values)
    }

    static func open(at path: String, options: EngineOptions) throws -> PropertyListEngine {
        let url = URL(fileURLWithPath: path + "/values.plist")
        guard FileManager.default.fileExists(atPath: url.path) else {
            return PropertyListEngine(url: url, values: [:])
        }
        let list = try PropertyListSerialization.propertyList(
            from: Data(contentsOf: url), format: nil)
        guard let values = list as? [String: Data] else { throw BenchError("no such list") }
        return PropertyListEngine(url: url, values: values)
    }

    func makeClient() -> Client { Client(engine: self) }
    func compact() {}
    func close() {}

    fileprivate func change(_ body: (inout sending [String: Data]) -> Void) throws {
        try values.withLock { values in
            body(&values)
            try PropertyListSerialization.data(
                fromPropertyList: values, format: .binary, options: 0
            ).write(to: url, options: .atomic)
        }
    }

    struct Client: KeyValueClient {
        let engine: PropertyListEngine

        func set(_ value: [UInt8], forKey key: String) throws {
            try engine.change { $0[key] = Data(value) }
        }

        func word(forKey key: String) throws -> UInt64? {
            guard let value = engine.values.withLock({ $0[key] }) else { return nil }
            return try value.withUnsafeBytes(valueWord)
        }

        func setAll(_ keys: ArraySlice<String>, _ values: ArraySlice<[UInt8]>) throws {
            try engine.change { for (key, value) in zip(keys, values) { $0[key] = Data(value) } }
        }

        func scan(from key: String?, limit: Int, makesEntries: Bool) throws -> ScanTotals {
            let entries = engine.values.withLock { $0 }
            var totals = ScanTotals()
            for name in entries.keys.filter({ $0 >= key ?? "" }).sorted().prefix(limit) {
                try entries[name]?.withUnsafeBytes { try totals.add($0) }
            }
            return totals
        }
    }
}
