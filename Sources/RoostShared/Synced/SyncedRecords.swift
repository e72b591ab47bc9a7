import Roost
import RoostIO

/// What a `SyncedRepository` keeps in its local workspace.
///
/// - A key in `queue` was changed here and the others do not have it yet; one in `versions` is known to have that
///   version there.
/// - `device` has who this is, which store it exchanges with, and what is being sent: on disk before it is sent, and
///   removed with what became of it.
/// - `resolutions` have the conflicts that no report has told of yet, and those of the last report: until the next
///   exchange of the same process begins, nobody knows that it was received. Another process is told them once more.
struct SyncedRecords<Item: Codable & Identifiable & Sendable>: Sendable
where Item.ID: KeyRepresentable {
    let local: Workspace
    let items: WorkspaceDictionary
    let queue: WorkspaceDictionary
    let versions: WorkspaceDictionary
    private let device: WorkspaceDictionary
    private let resolutions: WorkspaceDictionary
    /// `nil` where a repository stores the objects in another form than this.
    private let repository: Repository<Item>?
    /// Of a type with indexes: what is changed through it keeps them.
    private let indexed: Repository<Item>?

    /// - Parameter name: the type's where it is `nil`.
    init(_ local: Workspace, named given: String?) {
        let name = given ?? "\(Item.self)"
        self.local = local
        items = local.dictionary(name)
        queue = local.dictionary("\(name)/waiting")
        versions = local.dictionary("\(name)/versions")
        device = local.dictionary("\(name)/device")
        resolutions = local.dictionary("\(name)/resolutions")
        let isInForm = !(Item.self is any BinaryCodable.Type)
        repository = isInForm ? local.repository(of: Item.self, named: given) : nil
        indexed = Item.self is any Indexed.Type ? repository : nil
    }

    /// - Throws: `.conflict` where another type of the same name has the local dictionary (decision 281).
    func checkOwner() throws { try repository?.claimDictionary() }

    // MARK: Changing

    /// Puts an object in the place of whatever is here, which may be none of this type, or removes that.
    func replace(_ key: String, with item: Item?) async throws {
        try checkOwner()
        try await local.transaction { transaction in
            try noteChange(key, &transaction)
            try put(item, key, &transaction)
        }
    }

    /// An object that was not here and is not now does not count as changed.
    nonisolated(nonsending) func change<Result: Sendable>(
        _ key: String, _ body: (inout Item?) throws -> Result
    ) async throws -> Result {
        try checkOwner()
        return try await local.transaction { transaction in
            let old = try transaction.value(forKey: key, as: Item.self, in: items)
            var new = old
            let result = try body(&new)
            if old == nil && new == nil { return result }
            try noteChange(key, &transaction)
            try put(new, key, &transaction)
            return result
        }
    }

    private func noteChange(_ key: String, _ transaction: inout Transaction) throws {
        let waiting = try transaction.value(forKey: key, as: Waiting.self, in: queue)
        // The first change that waits says what all of them are based on.
        let base = try waiting?.base ?? transaction.value(forKey: key, in: versions) ?? 0
        var origin = waiting?.origin
        origin?.isChanged = true
        try transaction.set(
            Waiting(base: base, number: .random(in: 0 ... .max), origin: origin), forKey: key,
            in: queue)
    }

    private func put(_ item: Item?, _ key: String, _ transaction: inout Transaction) throws {
        if let indexed, putKeepingIndexes(item, key, indexed, &transaction) { return }
        if let item {
            try transaction.set(item, forKey: key, in: items)
        } else {
            try transaction.removeValue(forKey: key, in: items)
        }
    }

    /// Whether that was possible; else nothing is changed yet. What others have sent is taken also where it breaks what an index
    /// keeps unique, and where the dictionary has the indexes of another type: written by its key, it takes the indexes out of
    /// use until they are built anew. Whatever else is wrong is wrong with a write by the key too, and told by that.
    private func putKeepingIndexes(
        _ item: Item?, _ key: String, _ repository: Repository<Item>,
        _ transaction: inout Transaction
    ) -> Bool {
        do {
            if let item {
                // What others have stored may stand under another key than its own.
                guard Array(item.id.key.utf8) == Array(key.utf8) else { return false }
                try transaction.save(item, in: repository)
            } else {
                guard let id = repository.id(ofKey: key) else { return false }
                try transaction.delete(id, in: repository)
            }
            return true
        } catch { return false }
    }

    // MARK: Sending

    /// What waits to be sent, and the object as it is then.
    func waiting(_ key: String) async throws -> (waiting: Waiting, mine: Item?)? {
        try await local.transaction { transaction in
            guard let waiting = try transaction.value(forKey: key, as: Waiting.self, in: queue)
            else { return nil }
            return (waiting, try transaction.value(forKey: key, as: Item.self, in: items))
        }
    }

    /// Who this device is, chosen by chance when it is first asked. On disk before the others have it.
    func deviceName() async throws -> String {
        if let name = try device.value(forKey: "name", as: String.self) { return name }
        return try await local.transaction(durability: .synced) { transaction in
            if let name = try transaction.value(forKey: "name", as: String.self, in: device) {
                return name
            }
            let name = SyncedAttempt<Item>.newName()
            try transaction.set(name, forKey: "name", in: device)
            return name
        }
    }

    /// Takes note of the store that is exchanged with. Where it is another than before, everything here waits to be sent,
    /// based on nothing there, with what it was in the store before. Where it is the first, what is here already waits to be
    /// sent too: an app's own objects, from before it exchanged them.
    ///
    /// - Parameter version: of the record that has the name. It is another one where all the store has was copied to where it
    ///   is now, the name too, as by `roost copy`; earlier versions of this noted none.
    func noteStore(_ store: String, version: UInt64) async throws {
        let known = try device.value(forKey: "store", as: String.self)
        let knownVersion = try device.value(forKey: "storeVersion", as: UInt64.self)
        if known == store && knownVersion == version { return }
        try await local.transaction { transaction in
            try transaction.set(store, forKey: "store", in: device)
            try transaction.set(version, forKey: "storeVersion", in: device)
            guard let known else { return try queueUnknown(&transaction) }
            if known == store {
                if knownVersion != nil { try forgetVersions(&transaction) }
                return
            }
            var keys = try transaction.keys(of: items)
            for key in try transaction.keys(of: queue) {
                // Of what was removed here.
                if try !transaction.contains(key, in: items) { keys.append(key) }
            }
            var returned: [(key: String, version: UInt64)] = []
            for key in keys {
                let origin = try origin(of: key, in: known, &transaction)
                guard origin.store != store || origin.isChanged else {
                    returned.append((key, origin.version))
                    try transaction.removeValue(forKey: key, in: queue)
                    continue
                }
                try transaction.set(Waiting(origin, for: store), forKey: key, in: queue)
            }
            try transaction.removeAll(in: versions)
            for (key, version) in returned {
                try note(version == 0 ? Waiting.noBase : version, key, &transaction)
            }
            try transaction.removeValue(forKey: "attempts", in: device)
        }
    }

    /// What is there is of the store's objects, and of other versions, which may be those from before by chance.
    private func forgetVersions(_ transaction: inout Transaction) throws {
        for key in try transaction.keys(of: versions) {
            try note(Waiting.noBase, key, &transaction)
        }
        for key in try transaction.keys(of: queue) {
            guard var waiting = try transaction.value(forKey: key, as: Waiting.self, in: queue),
                waiting.base != 0
            else { continue }
            waiting.base = Waiting.noBase
            try transaction.set(waiting, forKey: key, in: queue)
        }
        try transaction.removeValue(forKey: "attempts", in: device)
    }

    /// Has those wait that no exchange has brought or sent, and no change has queued. An earlier version noted no store; what
    /// it exchanged has a version.
    private func queueUnknown(_ transaction: inout Transaction) throws {
        for key in try transaction.keys(of: items) {
            if try transaction.contains(key, in: queue) { continue }
            if try transaction.contains(key, in: versions) { continue }
            try transaction.set(
                Waiting(base: 0, number: .random(in: 0 ... .max)), forKey: key, in: queue)
        }
    }

    private func origin(
        of key: String, in store: String, _ transaction: inout Transaction
    ) throws -> SyncedOrigin {
        if let waiting = try transaction.value(forKey: key, as: Waiting.self, in: queue) {
            // One that never came to be sent to that store is of the one before it.
            if let origin = waiting.origin { return origin }
            let base = waiting.base == Waiting.noBase ? 0 : waiting.base
            return SyncedOrigin(store: store, version: base, isChanged: true)
        }
        let version = try transaction.value(forKey: key, as: UInt64.self, in: versions)
        // What the rule made of it is there, and did not come here: whatever the others have is later.
        if version == Waiting.noBase {
            return SyncedOrigin(store: store, version: 0, isChanged: false)
        }
        return SyncedOrigin(store: store, version: version ?? 0, isChanged: version == nil)
    }

    /// What was being sent when the last exchange ended, all by one commit.
    func attempts() throws -> [SyncedAttempt<Item>] { try device.value(forKey: "attempts") ?? [] }

    /// None where nothing is being sent. Attempts are on disk when this returns, and so are the changes that they send: a
    /// device that lost its power after they were made, and did not know them as its own, would be in conflict with itself.
    func note(_ attempts: [SyncedAttempt<Item>]) async throws {
        if attempts.isEmpty { return try await device.removeValue(forKey: "attempts") }
        try await device.set(attempts, forKey: "attempts", durability: .synced)
    }

    /// Takes over what attempts led to: each with the object's version, zero where it is not there.
    ///
    /// - Returns: the keys of those that were changed here meanwhile.
    func settle(
        _ attempts: [(attempt: SyncedAttempt<Item>, version: UInt64)]
    ) async throws -> [String] {
        try await local.transaction { transaction in
            try transaction.removeValue(forKey: "attempts", in: device)
            var changed: [String] = []
            for (attempt, version) in attempts
            where try !settle(attempt, version, &transaction) { changed.append(attempt.key) }
            return changed
        }
    }

    /// - Returns: whether nothing was changed here meanwhile.
    private func settle(
        _ attempt: SyncedAttempt<Item>, _ version: UInt64, _ transaction: inout Transaction
    ) throws -> Bool {
        let key = attempt.key
        try note(version, key, &transaction)
        if attempt.isConflict {
            let count = try transaction.value(forKey: "count", as: UInt64.self, in: device) ?? 0
            try transaction.set(count + 1, forKey: "count", in: device)
            try transaction.set(attempt, forKey: count.key, in: resolutions)
        }
        guard let waiting = try transaction.value(forKey: key, as: Waiting.self, in: queue)
        else { return true }
        guard waiting.number != attempt.number else {
            try transaction.removeValue(forKey: key, in: queue)
            // What this device had is here, and not as an attempt has it that is read by a later version of the app, whose
            // local migration makes more of it.
            if attempt.isMine { return true }
            if attempt.isResultReadable {
                try put(attempt.result, key, &transaction)
            } else {
                // What is there is taken as whatever others have sent.
                try note(Waiting.noBase, key, &transaction)
            }
            return true
        }
        // The later change is based on what was sent, but not on what the rule has made of it.
        let base = attempt.isMine ? version : Waiting.noBase
        try transaction.set(Waiting(base: base, number: waiting.number), forKey: key, in: queue)
        return false
    }

    private func note(
        _ version: UInt64, _ key: String, _ transaction: inout Transaction
    ) throws {
        if version == 0 {
            try transaction.removeValue(forKey: key, in: versions)
        } else {
            try transaction.set(version, forKey: key, in: versions)
        }
    }

    // MARK: Taking

    /// Takes what the others have. What waits to be sent is left, and decided about when it is.
    ///
    /// - Returns: whether it is news.
    func take(_ key: String, _ item: Item?, _ version: UInt64) async throws -> Bool {
        if try versions.value(forKey: key, as: UInt64.self) ?? 0 == version { return false }
        return try await local.transaction { transaction in
            if try transaction.contains(key, in: queue) { return false }
            try note(version, key, &transaction)
            try put(item, key, &transaction)
            return true
        }
    }

    /// The conflicts that were decided since the last report, those of exchanges that ended with an error included.
    func tellResolutions() async throws -> [SyncedRepository<Item>.Resolution] {
        try await local.transaction { transaction in
            let keys = try transaction.keys(of: resolutions)
            if !keys.isEmpty {
                let before = try transaction.value(
                    forKey: "told", as: ToldResolutions.self, in: device)
                let told = ToldResolutions(
                    process: thisProcess, keys: keys,
                    keysToldTwice: keys.filter { before?.keys.contains($0) ?? false })
                try transaction.set(told, forKey: "told", in: device)
            }
            return try keys.compactMap { key in
                try transaction.value(forKey: key, as: SyncedAttempt<Item>.self, in: resolutions)
                    .map {
                        SyncedRepository.Resolution(
                            key: $0.key, mine: $0.mine, theirs: $0.theirs, result: $0.result,
                            problem: $0.problem)
                    }
            }
        }
    }

    /// Forgets those of the last report, where it was this process's: what another was told may have been lost with it.
    /// What two were told is forgotten by whoever comes: processes that exchange once each would be told it for ever.
    func forgetToldResolutions() async throws {
        guard let told = try device.value(forKey: "told", as: ToldResolutions.self) else { return }
        let isOwn = told.process == thisProcess
        let forgotten = isOwn ? told.keys : told.keysToldTwice ?? []
        guard isOwn || !forgotten.isEmpty else { return }
        try await local.transaction { transaction in
            for key in forgotten { try transaction.removeValue(forKey: key, in: resolutions) }
            let rest = told.keys.filter { !forgotten.contains($0) }
            guard !rest.isEmpty else {
                return try transaction.removeValue(forKey: "told", in: device)
            }
            let left = ToldResolutions(process: told.process, keys: rest)
            try transaction.set(left, forKey: "told", in: device)
        }
    }
}

/// Of this process alone.
private let thisProcess = UInt64.random(in: 0 ... .max)

/// What the last report told, and in which process.
struct ToldResolutions: Codable, Sendable {
    var process: UInt64
    var keys: [String]
    /// Those of them that an earlier process was told too; earlier versions noted none.
    var keysToldTwice: [String]?
}

/// A change that waits to be sent.
struct Waiting: Codable, Sendable {
    /// The version, there, that it is based on; zero where there was none.
    var base: UInt64
    /// Of this change alone, so that one that comes while another is sent is told from it.
    var number: Int
    /// Where it was in another store before, and was not sent to this one yet.
    var origin: SyncedOrigin?

    /// The base of what is based on no version there: whatever is there, the rule decides.
    static let noBase = UInt64.max
}

extension Waiting {
    /// What was in another store, or in this one before the device met another, to which it never came to be sent: of that
    /// the versions there count again.
    init(_ origin: SyncedOrigin, for store: String) {
        let isReturned = origin.store == store
        self.init(
            base: isReturned ? origin.version : 0, number: .random(in: 0 ... .max),
            origin: isReturned ? nil : origin)
    }
}
