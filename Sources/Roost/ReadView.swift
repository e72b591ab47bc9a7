import RoostEngine
import RoostFormat

/// One point in time of a whole workspace, for reading, while writers and compaction go on.
///
/// Beginning one takes each shard's lock once and copies nothing. While it is open, writers keep
/// what they overwrite, and the files that it began on stay; so close it, or let go of it, when it
/// is no longer needed. One that was forgotten shows in ``Workspace/statistics``.
///
/// Reads are synchronous and from any thread, as a dictionary's are; they are not made resident.
public final class ReadView: Sendable {
    private let workspace: Workspace
    let engineView: EngineView
    /// Where it is to be known what is read: see `ReadObservation`.
    let notes: ReadNotes?

    init(_ workspace: Workspace) throws {
        self.workspace = workspace
        engineView = try workspace.engine.view()
        notes = nil
    }

    init(_ workspace: Workspace, _ engineView: EngineView, _ notes: ReadNotes? = nil) {
        self.workspace = workspace
        self.engineView = engineView
        self.notes = notes
    }

    /// Ends the view; later reads through it throw `.closed`. Closing twice is no error.
    public func close() { engineView.close() }

    // MARK: One key

    /// The value that `key` had in `dictionary`, or `nil`.
    ///
    /// - Throws: as `value(forKey:as:)`; `.closed` where the
    ///   view or the workspace is.
    public func value<Value: BinaryCodable & Sendable>(
        forKey key: String, as type: Value.Type = Value.self, in dictionary: WorkspaceDictionary
    ) throws -> Value? {
        try read(key, dictionary, .binary())
    }

    /// The value that `key` had in `dictionary`, or `nil`; as the other `value(forKey:as:in:)`.
    @_disfavoredOverload
    public func value<Value: Codable & Sendable>(
        forKey key: String, as type: Value.Type = Value.self, in dictionary: WorkspaceDictionary
    ) throws -> Value? {
        try read(key, dictionary, .codable())
    }

    /// Whether `key` had a value in `dictionary`. Decodes nothing.
    ///
    /// - Throws: `.corrupt` and `.io`; `.closed` where the view or the workspace is; `.keyTooLarge` where the
    ///   dictionary's name is too long.
    public func contains(_ key: String, in dictionary: WorkspaceDictionary) throws -> Bool {
        check(dictionary)
        let name = try dictionary.checkedName()
        guard let notes else { return try engineView.contains(key, name: name) }
        return try notes.contains(key, name, in: engineView)
    }

    // MARK: Many keys

    /// How many keys `dictionary` had; costs as ``WorkspaceDictionary/count``.
    ///
    /// - Throws: as `contains(_:in:)`.
    public func count(of dictionary: WorkspaceDictionary) throws -> Int {
        check(dictionary)
        let name = try dictionary.checkedName()
        guard let notes else { return try engineView.count(of: name) }
        return try notes.count(of: name, in: engineView)
    }

    /// The keys of `dictionary` that begin with `prefix`, in the order of their UTF-8 bytes or
    /// against it, at most `limit`. Holds all of them in memory.
    ///
    /// - Throws: as `contains(_:in:)`.
    public func keys(
        of dictionary: WorkspaceDictionary, prefix: String = "", limit: Int? = nil,
        order: ScanOrder = .ascending
    ) throws -> [String] {
        try keys(try dictionary.range(prefix: prefix), dictionary, limit, order)
    }

    /// The keys of `dictionary` in `range`; as the other `keys(of:prefix:limit:order:)`.
    public func keys(
        of dictionary: WorkspaceDictionary, in range: some KeyRange, limit: Int? = nil,
        order: ScanOrder = .ascending
    ) throws -> [String] {
        try keys(try dictionary.range(range), dictionary, limit, order)
    }

    /// The entries of `dictionary` whose keys begin with `prefix`, in the order of their UTF-8
    /// bytes or against it, at most `limit`. An iteration that is begun when the view is closed
    /// throws `.closed`; one that has begun before goes on.
    ///
    /// - Throws: `.keyTooLarge` where the dictionary's name is too long; what reading throws comes from the iteration.
    public func entries<Value: BinaryCodable & Sendable>(
        of dictionary: WorkspaceDictionary, prefix: String = "", as type: Value.Type = Value.self,
        limit: Int? = nil, order: ScanOrder = .ascending
    ) throws -> EntrySequence<Value> {
        check(dictionary)
        let range = try dictionary.range(prefix: prefix)
        notes?.note(range)
        return dictionary.entries(.success(range), limit, order, .binary(), self)
    }

    /// The entries of `dictionary` whose keys begin with `prefix`; as the other
    /// `entries(of:prefix:as:limit:order:)`.
    @_disfavoredOverload
    public func entries<Value: Codable & Sendable>(
        of dictionary: WorkspaceDictionary, prefix: String = "", as type: Value.Type = Value.self,
        limit: Int? = nil, order: ScanOrder = .ascending
    ) throws -> EntrySequence<Value> {
        check(dictionary)
        let range = try dictionary.range(prefix: prefix)
        notes?.note(range)
        return dictionary.entries(.success(range), limit, order, .codable(), self)
    }

    // MARK: Within

    private func keys(
        _ range: RecordRange, _ dictionary: WorkspaceDictionary, _ limit: Int?, _ order: ScanOrder
    ) throws -> [String] {
        check(dictionary)
        let scan = try engineView.scan(range, order, limit: limit ?? .max)
        var keys: [String] = []
        // Also where reading fails, after which another change may have it succeed.
        defer {
            let isCut = keys.count == limit
            notes?.note(
                range, order, behind: isCut ? keys.last.map { range.prefix + $0.utf8 } : nil)
        }
        while keys.count < limit ?? .max, let recordKey = scan.recordKey {
            keys.append(String(decoding: recordKey[range.prefix.count...], as: UTF8.self))
            notes?.note(scan.deadline)
            try scan.moveToNext()
        }
        try scan.checkRead()
        return keys
    }

    func read<Value>(
        _ key: String, _ dictionary: WorkspaceDictionary,
        _ codec: @autoclosure () -> ValueCodec<Value>
    ) throws -> Value? {
        check(dictionary)
        let name = try dictionary.checkedName()
        notes?.note(key, in: name)
        guard let found = try engineView.find(key, name: name) else { return nil }
        notes?.note(found.deadline)
        // What it owns keeps the bytes in place; it must live until they are decoded.
        return try found.withBytes { try dictionary.decode(stored: $0, key: key, codec()) }
    }

    func check(_ dictionary: WorkspaceDictionary) {
        precondition(
            dictionary.workspace === workspace, "the dictionary belongs to another workspace")
    }
}

extension Workspace {
    /// Calls `body` with a view of this moment, and closes it. Does not suspend. ``ReadView`` says
    /// what it costs.
    ///
    /// - Throws: `.closed`; what `body` throws.
    public func read<Result>(_ body: (ReadView) throws -> Result) throws -> Result {
        let view = try readView()
        defer { view.close() }
        return try body(view)
    }

    /// A view of this moment, to be closed when it is no longer needed; at the latest it closes
    /// with its last reference.
    ///
    /// - Throws: `.closed`.
    public func readView() throws -> ReadView { try ReadView(self) }
}
