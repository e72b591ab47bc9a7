import RoostEngine
import RoostFormat

extension WorkspaceDictionary {
    /// Says how the dictionary's values of one version become those of the next, `version`:
    ///
    /// ```swift
    /// let users = workspace.dictionary("users")
    ///     .migrating(from: UserV1.self, to: UserV2.self, version: 2) { UserV2($0) }
    ///     .migrating(from: UserV2.self, to: User.self, version: 3) { try User($0) }
    /// ```
    ///
    /// - What was written without migrations is of version 1. Values are read as any of the
    ///   types: what is older is converted on the way. What is newer is `.unsupportedVersion`,
    ///   and its bytes stay. The newest type is what should be written.
    /// - A value is stored anew, with its version, when it is next set, and when compaction next
    ///   copies it; ``Workspace/compact()`` converts all. A value whose conversion throws keeps its
    ///   bytes, and reading it is `.decodingFailed`.
    /// - Counts for the whole workspace until it is closed, for every handle of the dictionary;
    ///   to be called at every opening, before the dictionary is used. Steps that no stored value
    ///   needs any more may be left out at the beginning.
    /// - The stored bytes do not say their type: all values of the dictionary that are coded as
    ///   the old types are, are taken for theirs. Other types belong in another dictionary.
    /// - `convert` is called on any thread, and more than once for a value.
    ///
    /// - Parameters:
    ///   - old: The type that this step converts.
    ///   - new: The type that it makes of it.
    ///   - version: one more than the step before it; 2 or more.
    ///   - convert: makes the new value of an old one.
    /// - Returns: the dictionary itself.
    @discardableResult
    public func migrating<Old: Sendable, New: Sendable>(
        from old: Old.Type, to new: New.Type, version: Int,
        _ convert: @escaping @Sendable (Old) throws -> New
    ) -> WorkspaceDictionary {
        guard let number = UInt32(exactly: version), number > 1 else {
            preconditionFailure("a migration leads to version 2 or a later one")
        }
        // A dictionary whose name is too long has no values.
        guard let engineName else { return self }
        workspace.migrations.add(
            Migrations.Step(
                version: number, from: MigratedType(old), to: MigratedType(new),
                // Every value that comes here was decoded as `Old` or made by the step before.
                convert: { try convert($0 as! Old) }),
            to: engineName)
        workspace.engine.forgetResidents()
        workspace.objectIndexes.noteMigration(of: name)
        return self
    }
}

extension WorkspaceDictionary {
    /// `value` with the version that its type has in the dictionary.
    func withVersion<Value>(_ value: EncodedValue, _ type: Value.Type) -> EncodedValue {
        guard let engineName, let known = workspace.migrations.migrations(of: engineName),
            let version = known.version(of: ObjectIdentifier(type))
        else { return value }
        return value.with(version: version)
    }

    /// Decodes a stored value, kind and payload, and brings it up to date.
    func decode<Value: Sendable>(
        stored: UnsafeRawBufferPointer, key: String, _ codec: @autoclosure () -> ValueCodec<Value>
    ) throws -> Value {
        if workspace.migrations.isEmpty, let value = FixedForm.value(stored: stored, as: Value.self)
        {
            return value
        }
        return try codec().decode(
            stored: stored, key: key, name: checkedName(), migrations: workspace.migrations)
    }
}
