import Foundation
import RoostIO

extension Workspace {
    /// The dictionary that remembers what was imported.
    static var importsName: String { "roost.imports" }

    /// Takes over the app's own values of a `UserDefaults`, once and only once, however often an app starts:
    /// the values and the note that they are here are one batch, on disk when the call returns. A crash
    /// before that leaves nothing of it, and the next call imports.
    ///
    /// ```swift
    /// try await workspace.importing(userDefaults: .standard, into: "settings")
    /// ```
    ///
    /// Values keep their types: Bool, whole numbers as `Int` (beyond it as `UInt64`), other numbers as
    /// `Double`, text, `Data`, `Date`; arrays and dictionaries as `Codable` values. A key that has a
    /// value already keeps that: what the app wrote here is newer. The defaults stay as they are. What
    /// `register(defaults:)` and the system add is no value of the app's and stays out.
    ///
    /// Where the domain has no value nothing is noted, and the next call looks again: before a device
    /// is unlocked for the first time its defaults look empty.
    ///
    /// - Parameters:
    ///   - userDefaults: Where the values are taken from; not changed.
    ///   - domain: The domain whose values are taken: the app's bundle identifier, or a suite's name. May be
    ///     `nil` for `.standard`, whose domain is known; what suite another `UserDefaults` has it does not
    ///     tell: name it, here or by ``importing(userDefaultsSuite:into:mark:)``.
    ///   - name: The dictionary.
    ///   - mark: What this import is called, by which it is known when the app starts again; `nil` for a
    ///     name made of the domain and the dictionary.
    /// - Returns: how many values were taken; `nil` where this import was made before.
    /// - Throws: `.encodingFailed` for a value that no property list holds, or where `domain` is missing;
    ///   `.io` where the defaults cannot be synchronized first; `.valueTooLarge`; as a transaction; and then nothing is imported.
    @discardableResult
    public nonisolated(nonsending) func importing(
        userDefaults: UserDefaults, domain: String? = nil, into name: String = "settings",
        mark: String? = nil
    ) async throws -> Int? {
        let domain = try domain ?? Self.domain(of: userDefaults)
        let mark = mark ?? "UserDefaults \(domain) into \(name)"
        if try isImported(mark) { return nil }
        #if !canImport(Darwin)
            // There a domain that is read by its name is what the file has, and not what was set since.
            guard userDefaults.synchronize() else {
                throw RoostError(
                    .io,
                    "what was set in the defaults cannot be written to their file, which is read here"
                )
            }
        #endif
        let objects = userDefaults.persistentDomain(forName: domain) ?? [:]
        guard !objects.isEmpty else { return 0 }
        var members: [String: PropertyListTree] = [:]
        for (key, object) in objects {
            do { members[key] = try PropertyListTree(object: object) } catch {
                throw RoostError(
                    .encodingFailed, "\"\(key)\" of the defaults: \(error)", cause: error)
            }
        }
        return try await take(members, into: name, mark: mark)
    }

    /// Takes over the values of the `UserDefaults` suite of this name, such as an app group's; once and only
    /// once, as ``importing(userDefaults:domain:into:mark:)``.
    ///
    /// ```swift
    /// try await workspace.importing(userDefaultsSuite: "group.example.app", into: "shared")
    /// ```
    ///
    /// - Throws: `.encodingFailed` where no suite may have this name; as the other.
    @discardableResult
    public nonisolated(nonsending) func importing(
        userDefaultsSuite suite: String, into name: String = "settings", mark: String? = nil
    ) async throws -> Int? {
        guard let defaults = UserDefaults(suiteName: suite) else {
            throw RoostError(
                .encodingFailed,
                "\"\(suite)\" is no suite: the app's own defaults are importing(userDefaults: .standard)"
            )
        }
        return try await importing(userDefaults: defaults, domain: suite, into: name, mark: mark)
    }

    /// Of `.standard`: by the bundle, and for a program without one by the name of its process.
    private static func domain(of userDefaults: UserDefaults) throws -> String {
        guard userDefaults === UserDefaults.standard else {
            throw RoostError(
                .encodingFailed,
                "these defaults do not tell their suite: name it, importing(userDefaultsSuite: …)")
        }
        return Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
    }

    /// Takes over the values of a property list, such as an app's preferences file, binary or XML; once
    /// and only once, as ``importing(userDefaults:domain:into:mark:)``.
    ///
    /// - Parameters:
    ///   - url: The file; not changed.
    ///   - name: The dictionary.
    ///   - mark: What this import is called; `nil` for a name made of the dictionary and the file's path, from
    ///     the home directory where the file is in it, since the home of an app may move.
    /// - Throws: `.io` where the file cannot be read; `.decodingFailed`, saying where, for one that is no
    ///   property list with a dictionary at its top; and then nothing is imported.
    @discardableResult
    public nonisolated(nonsending) func importing(
        propertyListAt url: URL, into name: String = "settings", mark: String? = nil
    ) async throws -> Int? {
        let mark = mark ?? "\(Self.lastingPath(url)) into \(name)"
        if try isImported(mark) { return nil }
        let data: Data
        do { data = try Data(contentsOf: url) } catch {
            throw RoostError(.io, "the file cannot be read", file: url.path, cause: error)
        }
        do {
            return try await take(
                try PropertyListTree.members(ofPropertyList: data), into: name, mark: mark)
        } catch var error as RoostError where error.code == .decodingFailed {
            error.file = url.path
            throw error
        }
    }

    private static func lastingPath(_ url: URL) -> String {
        let path = url.standardizedFileURL.path
        let home = URL(fileURLWithPath: NSHomeDirectory()).standardizedFileURL.path
        return path.hasPrefix(home + "/") ? "~" + path.dropFirst(home.count) : path
    }

    private func isImported(_ mark: String) throws -> Bool {
        try dictionary(Self.importsName).contains(mark)
    }

    /// A transaction, so that of two imports at once one does nothing.
    private nonisolated(nonsending) func take(
        _ members: [String: PropertyListTree], into name: String, mark: String
    ) async throws -> Int? {
        let (values, imports) = (dictionary(name), dictionary(Self.importsName))
        return try await transaction(durability: .synced) { transaction in
            guard try transaction.value(forKey: mark, as: Date.self, in: imports) == nil else {
                return nil
            }
            var count = 0
            for (key, tree) in members where try !transaction.contains(key, in: values) {
                try tree.set(key, in: values, &transaction)
                count += 1
            }
            try transaction.set(Date(), forKey: mark, in: imports)
            return count
        }
    }
}
