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
/// - An object that both sides changed since they last agreed is a conflict, which `rule` decides. Whatever it
///   decides is in the report, with both sides; nothing else is ever lost.
/// - Devices that have exchanged everything have the same objects.
public struct SyncedRepository<Item: Codable & Identifiable & Sendable>: Sendable
where Item.ID: KeyRepresentable {
    /// What is to be there in the end, of two changes of one object.
    public enum Decision: Sendable {
        case mine
        case theirs
        /// `nil` removes the object.
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
    }

    /// What an exchange did.
    public struct Report: Sendable {
        /// How many changes of this device the others can see now.
        public var sentCount = 0
        /// How many changes of others are here now.
        public var takenCount = 0
        /// Every conflict.
        public var resolutions: [Resolution] = []
    }

    private let local: Workspace
    private let items: WorkspaceDictionary
    private let queue: WorkspaceDictionary
    private let versions: WorkspaceDictionary
    private let shared: SharedDictionary
    private let rule: Rule
    private let turn = ConflictTurns()

    /// - Parameters:
    ///   - type: what it keeps.
    ///   - name: the name of its dictionaries, here and there; the type's where it is `nil`.
    ///   - local: where the objects are.
    ///   - shared: with what they are exchanged.
    ///   - rule: decides about conflicts; where it is not given, who is exchanged last.
    public init(
        of type: Item.Type, named name: String? = nil, in local: Workspace,
        with shared: SharedWorkspace, rule: @escaping Rule = { _, _ in .mine }
    ) {
        let name = name ?? "\(type)"
        self.local = local
        self.rule = rule
        items = local.dictionary(name)
        queue = local.dictionary("\(name)/waiting")
        versions = local.dictionary("\(name)/versions")
        self.shared = shared.dictionary(name)
    }

    // MARK: Here

    /// The object with this identifier, as it is here. Does not suspend.
    public func find(by id: Item.ID) throws -> Item? { try items.value(forKey: id.key) }

    /// All objects, as they are here, in the order of their keys.
    public func loadAll() async throws -> [Item] {
        var all: [Item] = []
        for try await entry in items.entries(prefix: "", as: Item.self) { all.append(entry.value) }
        return all
    }

    /// How many changes wait to be sent.
    public var waitingCount: Int { get throws { try queue.count } }

    /// Saves an object here, and queues the change.
    public func save(_ item: Item) async throws { try await change(item.id.key, to: item) }

    /// Removes an object here, and queues the change.
    public func delete(_ id: Item.ID) async throws { try await change(id.key, to: nil) }

    private func change(_ key: String, to item: Item?) async throws {
        try await local.transaction { transaction in
            let waiting = try transaction.value(forKey: key, as: Waiting.self, in: queue)
            // The first change that waits says what all of them are based on.
            let base = try waiting?.base ?? transaction.value(forKey: key, in: versions) ?? 0
            try transaction.set(
                Waiting(base: base, number: (waiting?.number ?? 0) + 1), forKey: key, in: queue)
            try put(item, key, &transaction)
        }
    }

    private func put(_ item: Item?, _ key: String, _ transaction: inout Transaction) throws {
        if let item {
            try transaction.set(item, forKey: key, in: items)
        } else {
            try transaction.removeValue(forKey: key, in: items)
        }
    }

    // MARK: Exchanging

    /// Sends what waits, and takes what is new. Exchanges of one device go one after another; one that ends with an
    /// error has done a part, and the next goes on there.
    ///
    /// - Throws: `.unavailable` where the shared workspace cannot be reached; what `rule` throws.
    public func synchronize() async throws -> Report {
        try await turn.take([])
        defer { turn.pass([]) }
        var report = Report()
        for key in try queue.keys { try await send(key, &report) }
        try await takeNew(&report)
        return report
    }

    private func send(_ key: String, _ report: inout Report) async throws {
        while let waiting = try queue.value(forKey: key, as: Waiting.self) {
            let mine = try items.value(forKey: key, as: Item.self)
            let theirs = try await shared.loadEntry(key, as: Item.self)
            var result = mine
            var resolution: Resolution?
            if theirs.version != waiting.base {
                switch try rule(mine, theirs.value) {
                case .mine: break
                case .theirs: result = theirs.value
                case .merged(let item): result = item
                }
                resolution = Resolution(key: key, mine: mine, theirs: theirs.value, result: result)
            }
            let version: UInt64
            do {
                if result == nil && theirs.version == 0 {
                    version = 0
                } else {
                    version = try await shared.replace(theirs, with: result, form: .codable())
                        .version
                }
            } catch let error as RoostError where error.code == .conflict {
                // Another device was between; with what it sent, it is decided again.
                continue
            }
            if let resolution { report.resolutions.append(resolution) }
            report.sentCount += 1
            if try await settle(key, waiting, result, version) { return }
        }
    }

    /// Returns whether nothing was changed here meanwhile.
    private func settle(
        _ key: String, _ sent: Waiting, _ result: Item?, _ version: UInt64
    ) async throws -> Bool {
        try await local.transaction { transaction in
            try note(version, key, &transaction)
            let waiting = try transaction.value(forKey: key, as: Waiting.self, in: queue)
            guard let waiting, waiting.number != sent.number else {
                try transaction.removeValue(forKey: key, in: queue)
                try put(result, key, &transaction)
                return true
            }
            try transaction.set(
                Waiting(base: version, number: waiting.number), forKey: key, in: queue)
            return false
        }
    }

    /// Zero where it is not there.
    private func note(
        _ version: UInt64, _ key: String, _ transaction: inout Transaction
    ) throws {
        if version == 0 {
            try transaction.removeValue(forKey: key, in: versions)
        } else {
            try transaction.set(version, forKey: key, in: versions)
        }
    }

    /// Everything that is there and not here, of one revision.
    private func takeNew(_ report: inout Report) async throws {
        let scan = SharedScan(shared, KeySelection(), isKeysOnly: false)
        let form = ValueForm<Item>.codable()
        var there: Set<String> = []
        while let record = try await scan.next() {
            let key = scan.key(of: record)
            there.insert(key)
            let item = try form.value(ofStored: record.value, key: key, in: shared.checkedName())
            if try await take(key, item, record.revision) { report.takenCount += 1 }
        }
        let known = try versions.keys
        for key in known where !there.contains(key) {
            if try await take(key, nil, 0) { report.takenCount += 1 }
        }
    }

    /// Returns whether it is news. What waits to be sent is left, and decided about when it is.
    private func take(_ key: String, _ item: Item?, _ version: UInt64) async throws -> Bool {
        if try versions.value(forKey: key, as: UInt64.self) ?? 0 == version { return false }
        return try await local.transaction { transaction in
            if try transaction.contains(key, in: queue) { return false }
            try note(version, key, &transaction)
            try put(item, key, &transaction)
            return true
        }
    }
}

/// A change that waits to be sent.
private struct Waiting: Codable, Sendable {
    /// The version, there, that it is based on; zero where there was none.
    var base: UInt64
    /// Counts the changes that wait, so that one that comes while another is sent is told from it.
    var number: Int
}
