import Foundation
import RoostIO

extension Workspace {
    /// The dictionary that remembers what was imported.
    static var importsName: String { "roost.imports" }

    /// Takes over the values of a `UserDefaults`, once and only once, however often an app starts: the
    /// values and the note that they are here are one batch, on disk when the call returns. A crash
    /// before that leaves nothing of it, and the next call imports.
    ///
    /// ```swift
    /// try await workspace.importing(userDefaults: .standard, into: "settings")
    /// ```
    ///
    /// Values keep their types: Bool, whole numbers as `Int` (beyond it as `UInt64`), other numbers as
    /// `Double`, text, `Data`, `Date`; arrays and dictionaries as `Codable` values. A key that has a
    /// value already keeps that: what the app wrote here is newer. The defaults stay as they are.
    ///
    /// - Parameters:
    ///   - userDefaults: Where the values are taken from; not changed.
    ///   - domain: The domain whose values are taken, which leaves out what the system and
    ///     `register(defaults:)` add: the app's bundle identifier, or the suite's name. Where it is
    ///     `nil` it is the bundle identifier; where there is none, everything that the defaults show.
    ///   - name: The dictionary.
    ///   - mark: What this import is called, by which it is known when the app starts again.
    /// - Returns: how many values were taken; `nil` where this import was made before.
    /// - Throws: `.encodingFailed` for a value that no property list holds, `.valueTooLarge`; as a
    ///   transaction; and then nothing is imported.
    @discardableResult
    public nonisolated(nonsending) func importing(
        userDefaults: UserDefaults, domain: String? = nil, into name: String = "settings",
        mark: String = "UserDefaults"
    ) async throws -> Int? {
        if try isImported(mark) { return nil }
        let objects =
            (domain ?? Bundle.main.bundleIdentifier).flatMap(
                userDefaults.persistentDomain(forName:))
            ?? userDefaults.dictionaryRepresentation()
        var members: [String: PropertyListTree] = [:]
        for (key, object) in objects {
            do { members[key] = try PropertyListTree(object: object) } catch {
                throw RoostError(
                    .encodingFailed, "\"\(key)\" of the defaults: \(error)", cause: error)
            }
        }
        return try await take(members, into: name, mark: mark)
    }

    /// Takes over the values of a property list, such as an app's preferences file, binary or XML; once
    /// and only once, as ``importing(userDefaults:domain:into:mark:)``.
    ///
    /// - Throws: `.io` where the file cannot be read; `.decodingFailed`, saying where, for one that is no
    ///   property list with a dictionary at its top; and then nothing is imported.
    @discardableResult
    public nonisolated(nonsending) func importing(
        propertyListAt url: URL, into name: String = "settings", mark: String? = nil
    ) async throws -> Int? {
        let mark = mark ?? url.lastPathComponent
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
