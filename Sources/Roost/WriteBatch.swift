import RoostCoding
import RoostEngine

/// Collects the operations that ``Workspace/write(durability:_:)`` commits at once.
///
/// An operation that fails, by its key's or value's size or by its encoding, makes the whole
/// batch fail; what the operation would have changed is then unchanged, as is all else.
public struct WriteBatch {
    let workspace: Workspace
    var encoded: EncodedBatch

    init(workspace: Workspace) {
        self.workspace = workspace
        encoded = EncodedBatch(hashSeed: workspace.engine.hashSeed)
    }

    /// How many operations the batch has so far.
    public var count: Int { encoded.operationCount }

    /// Sets the value of `key` in `dictionary`.
    public mutating func set<Value: BinaryCodable & Sendable>(
        _ value: Value, forKey key: String, in dictionary: WorkspaceDictionary
    ) {
        add(value, key, dictionary, .binary())
    }

    /// Sets the value of `key` in `dictionary`.
    @_disfavoredOverload
    public mutating func set<Value: Codable & Sendable>(
        _ value: Value, forKey key: String, in dictionary: WorkspaceDictionary
    ) {
        add(value, key, dictionary, .codable())
    }

    /// Removes `key` from `dictionary`.
    public mutating func removeValue(forKey key: String, in dictionary: WorkspaceDictionary) {
        check(dictionary)
        attempt { encoded in encoded.remove(key, in: try dictionary.checkedName()) }
    }

    /// Removes what `dictionary` held before the batch; what the batch itself sets stays.
    public mutating func removeAll(in dictionary: WorkspaceDictionary) {
        check(dictionary)
        attempt { encoded in encoded.clear(try dictionary.checkedName()) }
    }

    private mutating func add<Value>(
        _ value: Value, _ key: String, _ dictionary: WorkspaceDictionary,
        _ codec: ValueCodec<Value>
    ) {
        check(dictionary)
        attempt { encoded in
            encoded.put(
                try dictionary.encode(value, codec), forKey: key, in: try dictionary.checkedName())
        }
    }

    func check(_ dictionary: WorkspaceDictionary) {
        precondition(
            dictionary.workspace === workspace, "the dictionary belongs to another workspace")
    }

    mutating func attempt(_ body: (inout EncodedBatch) throws -> Void) {
        do { try body(&encoded) } catch {
            encoded.fail(
                error as? RoostError
                    ?? RoostError(.encodingFailed, "the value could not be encoded", cause: error))
        }
    }
}
