import Roost
import RoostFormat
import RoostIO

// Values as they are stored, whatever their types: for tools.

extension SharedDictionary {
    /// The value of `key` as it is stored, or `nil`. Linearizable; one request.
    package func storedValue(forKey key: String) async throws -> StoredValue? {
        let (record, _) = try await connection.record(
            try engineKey(key), before: workspace.callEnd)
        guard let record = connection.live(record) else { return nil }
        return try storedValue(record.value, key)
    }

    /// Every change of the keys that begin with `prefix`; else as `changes(_:form:since:)`.
    package func storedChanges(
        prefix: String = "", since version: UInt64? = nil
    ) -> KeyValueChanges<StoredValue> {
        KeyValueChanges {
            let bounds = KeySelection(prefix: prefix).bounds
            let reader = ChangeReader(self, self.range(bounds), after: version)
            return {
                guard let change = await reader.next() else { return nil }
                return self.change(change) { try self.storedValue($0, $1) }
            }
        }
    }

    func storedValue(_ stored: [UInt8], _ key: String) throws -> StoredValue {
        guard let value = stored.withUnsafeBytes({ StoredValue(stored: $0) }) else {
            throw RoostError(.decodingFailed, "\"\(key)\" in \"\(name)\" has no kind")
        }
        return value
    }
}
