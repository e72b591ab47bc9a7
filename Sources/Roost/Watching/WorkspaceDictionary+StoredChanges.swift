import RoostEngine
import RoostFormat

extension WorkspaceDictionary {
    /// Every change of the keys that begin with `prefix`, with values as they are stored, whatever their
    /// type; else as `changes(prefix:as:since:bufferCapacity:)`.
    package func storedChanges(
        prefix: String = "", since version: UInt64? = nil,
        bufferCapacity: Int = defaultBufferCapacity
    ) -> DictionaryChanges<StoredValue> {
        let handle = engineName.map { name in
            workspace.engine.watch(
                WatchTarget(prefix: prefix, in: name),
                .changes(since: version, capacity: checked(bufferCapacity)))
        }
        let decoding = StoredDecoding<StoredValue> { stored, key, name in
            guard let value = StoredValue(stored: stored) else {
                throw RoostError(.decodingFailed, "\"\(key)\" in \"\(name.name)\" has no kind")
            }
            return value
        }
        return DictionaryChanges(watch: watch(handle, decoding), key: nil)
    }
}
