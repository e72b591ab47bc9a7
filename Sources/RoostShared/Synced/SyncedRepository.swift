import Roost
import RoostIO

/// An offline-first repository: objects live in a local workspace, changes queue there, and are exchanged with a shared
/// workspace when that can be reached.
///
/// ```swift
/// let notes = SyncedRepository(of: Note.self, in: local, with: shared)
/// try await notes.save(note)                       // local, at once, also without a network
/// let report = try await notes.synchronize()       // sends what waits, takes what is new
/// ```
///
/// - Reading and changing touch the local workspace alone. A change and its place in the queue are one batch.
/// - An object that both sides changed since they last agreed is a conflict, which `rule` decides, unless both have made the
///   same of it. Whatever it decides is in a report, with both sides; nothing else is ever lost, also where an exchange
///   breaks or answers are lost, and while objects are changed during one.
/// - What is in the local dictionary before the first exchange, as an app's own objects are that was updated to exchange them, is
///   sent with it. From then on what is changed round this repository, by a `Repository` or by keys, is not sent.
/// - A `Repository` of the local workspace, of the same name, is for queries and live results of what is here. Where the type is
///   `Indexed`, changes by this one keep its indexes, and exchanges those that a service has built in the shared workspace,
///   but for one that breaks what an index keeps unique.
/// - Where the shared workspace was emptied or set up anew, everything here is sent to it. Of devices that exchanged with
///   it before, who only has an earlier state of an object takes the later one; what was removed there, and not here
///   yet, comes back.
/// - Devices that have exchanged everything have the same objects.
public struct SyncedRepository<Item: Codable & Identifiable & Sendable>: Sendable
where Item.ID: KeyRepresentable {
    /// What is to be there in the end, of two changes of one object.
    public enum Decision: Sendable {
        case mine
        case theirs
        /// `nil` removes the object. One with another identifier is not exchanged: `.encodingFailed`.
        case merged(Item?)
    }

    /// Decides about an object that was changed on both sides; `nil` where a side has removed it.
    public typealias Rule = @Sendable (_ mine: Item?, _ theirs: Item?) throws -> Decision

    /// One conflict, and what was decided.
    public struct Resolution: Sendable {
        /// The key of the object's identifier.
        public let key: String
        /// What this device had.
        public let mine: Item?
        /// What the others had.
        public let theirs: Item?
        /// What both have now.
        public let result: Item?
        /// Why an object is missing above, where it is: one that an earlier version of the app has stored, in a form that this
        /// version does not decode.
        public let problem: RoostError?
    }

    /// What an exchange did.
    public struct Report: Sendable {
        /// How many changes of this device the others can see now.
        public var sentCount = 0
        /// How many changes of others are here now.
        public var takenCount = 0
        /// Every conflict that was decided since the last report: each is in one, and in one of the next process where
        /// this one ends before its next exchange begins. Where exchanges fail, ``SyncedRepository/conflicts()`` tells of
        /// them.
        public var resolutions: [Resolution] = []
    }

    private let records: SyncedRecords<Item>
    private let shared: SharedDictionary
    private let rule: Rule
    /// Of the local objects, whichever value of this type exchanges them.
    private let turn: [UInt8]

    /// The rule where none is given, the last writer by version: versions are given there, when an object is sent, so
    /// that is who is exchanged last, whatever the clocks of devices say.
    public static var lastWriter: Rule { { _, _ in .mine } }

    /// - Parameters:
    ///   - type: what it keeps.
    ///   - name: the name of its dictionaries, here and there; the type's where it is `nil`. Those whose names go on
    ///     with a slash are its own too. Of two types of one name, as `Cart.Item` and `Order.Item`, the second that is changed
    ///     or exchanged is `.conflict` where neither is given another.
    ///   - local: where the objects are.
    ///   - shared: with what they are exchanged.
    ///   - rule: decides about conflicts; ``lastWriter`` where it is not given. It may be asked again where another
    ///     device was first.
    public init(
        of type: Item.Type, named name: String? = nil, in local: Workspace,
        with shared: SharedWorkspace, rule: @escaping Rule = Self.lastWriter
    ) {
        self.rule = rule
        records = SyncedRecords(local, named: name)
        let name = name ?? "\(type)"
        self.shared = shared.dictionary(name)
        turn = Array("\(ObjectIdentifier(local))/\(name)".utf8)
    }

    // MARK: Here

    /// The object with this identifier, as it is here. Does not suspend.
    ///
    /// - Throws: as `value(forKey:as:)` of a `WorkspaceDictionary`.
    public func find(by id: Item.ID) throws -> Item? { try records.items.value(forKey: id.key) }

    /// The object with this identifier, as it is here; as ``find(by:)``.
    public subscript(id: Item.ID) -> Item? { get throws { try find(by: id) } }

    /// All objects, as they are here, in the order of their keys.
    ///
    /// - Throws: as ``find(by:)``, for any of them; `.cancelled`.
    public func loadAll() async throws -> [Item] {
        var all: [Item] = []
        for try await entry in records.items.entries(prefix: "", as: Item.self) {
            all.append(entry.value)
        }
        return all
    }

    /// How many changes wait to be sent.
    ///
    /// - Throws: as `count` of a `WorkspaceDictionary`.
    public var waitingCount: Int { get throws { try records.queue.count } }

    /// Saves an object here, and queues the change. It takes the place of whatever is here, also of what an exchange has
    /// brought since the object was read: ``update(_:_:)`` reads and changes at once.
    ///
    /// - Throws: as `Workspace.transaction(durability:_:)` of the local workspace; `.encodingFailed`,
    ///   `.keyTooLarge`, `.valueTooLarge`. Then nothing is changed.
    public func save(_ item: Item) async throws {
        try await records.replace(item.id.key, with: item)
    }

    /// Removes an object here, and queues the change.
    ///
    /// - Throws: as ``save(_:)``, but for `.encodingFailed`.
    public func delete(_ id: Item.ID) async throws {
        try await records.replace(id.key, with: nil)
    }

    /// Changes the object with this identifier here, and queues the change; no exchange falls between. `body` gets `nil`
    /// where there is none, removes it by leaving `nil`, and is called again where another writer was first.
    ///
    /// - Throws: what `body` throws, and then nothing is changed; `.conflict` where it changes the identifier; as ``save(_:)``;
    ///   `.decodingFailed` and `.typeMismatch` where what is here is no such object.
    @discardableResult
    public nonisolated(nonsending) func update<Result: Sendable>(
        _ id: Item.ID, _ body: (inout Item?) throws -> Result
    ) async throws -> Result {
        try await records.change(id.key) { item in
            let before = item?.id.key ?? id.key
            let result = try body(&item)
            // By their bytes, as strings take canonically equal ones for one.
            if let after = item?.id.key.utf8, !after.elementsEqual(id.key.utf8),
                !after.elementsEqual(before.utf8)
            {
                throw RoostError(
                    .conflict, "an update of \"\(id.key)\" may not change its identifier")
            }
            return result
        }
    }

    /// Changes the object with this identifier here, where there is one, and queues the change: `body` is not called where
    /// there is none.
    ///
    /// - Returns: what `body` returned; `nil` where there is no such object.
    /// - Throws: as the other `update(_:_:)`.
    @_disfavoredOverload
    @discardableResult
    public nonisolated(nonsending) func update<Result: Sendable>(
        _ id: Item.ID, _ body: (inout Item) throws -> Result
    ) async throws -> Result? {
        try await update(id) { (found: inout Item?) -> Result? in
            guard var item = found else { return nil }
            let result = try body(&item)
            found = item
            return result
        }
    }

    // MARK: Exchanging

    /// Sends what waits, and takes what is new. Exchanges of the same objects go one after another; one that ends with an
    /// error has done a part, and the next goes on there, and reports the conflicts that this one decided.
    ///
    /// - Throws: `.unavailable` where the shared workspace cannot be reached. What one object fails with, when all others
    ///   are exchanged: `.tooLarge` and `.keyTooLarge` of one that the engine does not take, `.typeMismatch` and
    ///   `.decodingFailed` of one that is there in another form, what `rule` throws.
    @discardableResult
    public func synchronize() async throws -> Report {
        try await exchangeTurns.take(turn)
        defer { exchangeTurns.pass(turn) }
        return try await SyncedExchange(records, shared, rule).run()
    }

    /// The conflicts that were decided since the last report, as ``Report/resolutions`` has them: for whoever gets no report,
    /// as an object fails at each exchange, or the network did. They count as told then. Waits for an exchange that is under way,
    /// and asks nobody.
    ///
    /// - Throws: as `Workspace.transaction(durability:_:)` of the local workspace.
    public func conflicts() async throws -> [Resolution] {
        try await exchangeTurns.take(turn)
        defer { exchangeTurns.pass(turn) }
        try await records.forgetToldResolutions()
        return try await records.tellResolutions()
    }
}

private let exchangeTurns = ConflictTurns()
