import Foundation

/// Foundation's `UserDefaults`, a suite of its own in its usual place, synchronised at each set.
///
/// `@unchecked Sendable`: `UserDefaults` is thread-safe by its documentation, and `let`.
final class UserDefaultsEngine: KeyValueEngine, @unchecked Sendable {
    static let name = "user-defaults"
    static let settings = "a suite; synchronize() after each set"
    static let abilities = EngineAbilities(isWholeFile: true, durabilities: [.process])

    private let defaults: UserDefaults
    private let domain: String

    private init(defaults: UserDefaults, domain: String) {
        self.defaults = defaults
        self.domain = domain
    }

    /// The suite's file is not in the engine's directory, which only gives it its name: `remove`
    /// takes it away.
    static func open(at path: String, options: EngineOptions) throws -> UserDefaultsEngine {
        let domain = domain(path)
        guard let defaults = UserDefaults(suiteName: domain) else { throw BenchError("no suite") }
        return UserDefaultsEngine(defaults: defaults, domain: domain)
    }

    static func domain(_ path: String) -> String {
        "roost-bench." + (path.split(separator: "/").last ?? "")
    }

    /// By its file: removing the domain compares each key with all others, for minutes.
    static func remove(_ path: String) throws {
        #if canImport(Darwin)
            UserDefaults().removePersistentDomain(forName: domain(path))
        #else
            let file = file(ofDomain: domain(path))
            if FileManager.default.fileExists(atPath: file.path) {
                try FileManager.default.removeItem(at: file)
            }
        #endif
    }

    fileprivate static func file(ofDomain domain: String) -> URL {
        let environment = ProcessInfo.processInfo.environment
        let directory = environment["XDG_CONFIG_HOME"] ?? NSHomeDirectory() + "/.config"
        return URL(fileURLWithPath: directory).appendingPathComponent("\(domain).plist")
    }

    func makeClient() -> Client { Client(engine: self) }
    func compact() {}

    func close() throws { try defaults.synchronizeOrThrow() }

    struct Client: KeyValueClient {
        fileprivate let engine: UserDefaultsEngine

        func set(_ value: [UInt8], forKey key: String) throws {
            engine.defaults.set(Data(value), forKey: key)
            try engine.defaults.synchronizeOrThrow()
        }

        func word(forKey key: String) throws -> UInt64? {
            try engine.defaults.data(forKey: key)?.withUnsafeBytes(valueWord)
        }

        func setAll(_ keys: ArraySlice<String>, _ values: ArraySlice<[UInt8]>) throws {
            try engine.defaults.setAll(
                zip(keys, values.lazy.map { Data($0) }), domain: engine.domain)
        }

        func scan(from key: String?, limit: Int, makesEntries: Bool) throws -> ScanTotals {
            let entries = engine.defaults.persistentDomain(forName: engine.domain) ?? [:]
            var totals = ScanTotals()
            for name in entries.keys.filter({ $0 >= key ?? "" }).sorted().prefix(limit) {
                try (entries[name] as? Data)?.withUnsafeBytes { try totals.add($0) }
            }
            return totals
        }
    }
}

extension UserDefaults {
    func synchronizeOrThrow() throws {
        guard synchronize() else { throw BenchError("UserDefaults did not synchronise") }
    }

    /// Sets many values outside what is measured, by way of the suite's file: set one by one, each is
    /// compared with all others since the last synchronisation, and 40,000 take minutes.
    func setAll(_ pairs: some Sequence<(String, some Any)>, domain: String) throws {
        try synchronizeOrThrow()
        var all = persistentDomain(forName: domain) ?? [:]
        for (key, value) in pairs { all[key] = value }
        #if canImport(Darwin)
            setPersistentDomain(all, forName: domain)
        #else
            let file = UserDefaultsEngine.file(ofDomain: domain)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try PropertyListSerialization.data(fromPropertyList: all, format: .xml, options: 0)
                .write(to: file, options: .atomic)
        #endif
        try synchronizeOrThrow()
        guard persistentDomain(forName: domain)?.count == all.count else {
            throw BenchError("UserDefaults did not take its file over")
        }
    }
}
