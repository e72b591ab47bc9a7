import RoostEngine
import RoostFormat

// Ordered scans: over a prefix or a range, up or down, with values or keys only.

extension WorkspaceDictionary {
    // MARK: Entries

    /// The entries whose keys begin with `prefix`, in the order of their UTF-8 bytes or against it,
    /// at most `limit`. Nothing is read before the iteration begins.
    public func entries<Value: BinaryCodable & Sendable>(
        prefix: String = "", as type: Value.Type = Value.self, limit: Int? = nil,
        order: ScanOrder = .ascending
    ) -> EntrySequence<Value> {
        entries(Result { try range(prefix: prefix) }, limit, order, .binary())
    }

    /// The entries whose keys begin with `prefix`; as the other `entries(prefix:as:limit:order:)`.
    @_disfavoredOverload
    public func entries<Value: Codable & Sendable>(
        prefix: String = "", as type: Value.Type = Value.self, limit: Int? = nil,
        order: ScanOrder = .ascending
    ) -> EntrySequence<Value> {
        entries(Result { try range(prefix: prefix) }, limit, order, .codable())
    }

    /// The entries whose keys are in `range`; as `entries(prefix:as:limit:order:)`.
    public func entries<Value: BinaryCodable & Sendable>(
        in range: some KeyRange, as type: Value.Type = Value.self, limit: Int? = nil,
        order: ScanOrder = .ascending
    ) -> EntrySequence<Value> {
        entries(Result { try self.range(range) }, limit, order, .binary())
    }

    /// The entries whose keys are in `range`; as `entries(prefix:as:limit:order:)`.
    @_disfavoredOverload
    public func entries<Value: Codable & Sendable>(
        in range: some KeyRange, as type: Value.Type = Value.self, limit: Int? = nil,
        order: ScanOrder = .ascending
    ) -> EntrySequence<Value> {
        entries(Result { try self.range(range) }, limit, order, .codable())
    }

    // MARK: Keys

    /// The keys that begin with `prefix`, in the order of their UTF-8 bytes or against it, at most
    /// `limit`. Decodes no value.
    public func keys(
        prefix: String, limit: Int? = nil, order: ScanOrder = .ascending
    ) -> KeySequence {
        KeySequence(scan: scan(Result { try range(prefix: prefix) }, limit, order, nil))
    }

    /// The keys in `range`; as `keys(prefix:limit:order:)`.
    public func keys(
        in range: some KeyRange, limit: Int? = nil, order: ScanOrder = .ascending
    ) -> KeySequence {
        KeySequence(scan: scan(Result { try self.range(range) }, limit, order, nil))
    }

    // MARK: Within

    func entries<Value>(
        _ range: Result<RecordRange, any Error>, _ limit: Int?, _ order: ScanOrder,
        _ codec: ValueCodec<Value>, _ view: ReadView? = nil
    ) -> EntrySequence<Value> {
        EntrySequence(scan: scan(range, limit, order, view), codec: codec)
    }

    func scan(
        _ range: Result<RecordRange, any Error>, _ limit: Int?, _ order: ScanOrder,
        _ view: ReadView?
    ) -> OrderedScan {
        OrderedScan(
            dictionary: self, range: range, limit: max(0, limit ?? .max), order: order, view: view)
    }
}
