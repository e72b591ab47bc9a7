import Roost
import RoostIO

/// One exchange of a `SyncedRepository` with the shared workspace.
///
/// - Objects are sent in one commit with the *receipt*, the device's own record there, which then has the name of the
///   attempt: many at once where nothing is to be decided about them, else each by itself. So a device that did not get an answer finds out whether its attempt was made, also where others
///   have changed the object since; and it is no conflict of a device with itself.
/// - A commit is guarded by what the receipt was: one attempt of a device is under way at a time, and one that
///   comes late, after a later one, is not made.
/// - It is guarded by the store's name too: a store that is emptied meanwhile is another one, where versions of the
///   former say nothing and what is missing was not removed by anybody. The exchange begins again there.
/// - An object that cannot be exchanged keeps no other from it: what it fails with is thrown in the end.
/// - The commit keeps the indexes that others have built, where the type declares them; else, written by its key, an
///   object takes them away.
final class SyncedExchange<Item: Codable & Identifiable & Sendable>
where Item.ID: KeyRepresentable {
    let records: SyncedRecords<Item>
    let shared: SharedDictionary
    let receipts: SharedDictionary
    /// What objects were in the store before this one.
    let origins: SharedDictionary
    let rule: SyncedRepository<Item>.Rule
    let form = ValueForm<Item>.codable()
    let reading: SyncedReading<Item>
    /// Of a type with indexes: what is sent through it keeps those that others have built.
    let repository: SharedRepository<Item>?
    /// How many objects are sent by the next commit.
    var togetherCount = mostTogether
    var receipt: Entry<String>
    /// The name of the store, there. No device has the key: theirs are made of letters and digits.
    var store: Entry<String>
    var report = SyncedRepository<Item>.Report()
    /// What the first object failed with that could not be exchanged.
    private var failure: (any Error)?

    init(
        _ records: SyncedRecords<Item>, _ shared: SharedDictionary,
        _ rule: @escaping SyncedRepository<Item>.Rule
    ) async throws {
        self.records = records
        self.shared = shared
        self.rule = rule
        receipts = shared.workspace.dictionary("\(shared.name)/devices")
        origins = shared.workspace.dictionary("\(shared.name)/origins")
        reading = SyncedReading(shared: shared, origins: origins, form: form)
        let isIndexed = Item.self is any Indexed.Type && !(Item.self is any BinaryCodable.Type)
        repository =
            isIndexed ? shared.workspace.repository(of: Item.self, named: shared.name) : nil
        receipt = try await receipts.loadEntry(try await records.deviceName(), as: String.self)
        store = try await receipts.loadEntry(".store", as: String.self)
    }

    func run() async throws -> SyncedRepository<Item>.Report {
        try records.checkOwner()
        try await records.forgetToldResolutions()
        while true {
            do {
                try await findOutWhichStoreThisIs()
                try await sendAll()
                try await takeNew()
                break
            } catch is OtherStore {
                failure = nil
                receipt = try await receipts.loadEntry(receipt.key, as: String.self)
                store = try await receipts.loadEntry(store.key, as: String.self)
            }
        }
        if let failure { throw failure }
        report.resolutions = try await records.tellResolutions()
        return report
    }

    // MARK: The store

    /// There is another store by now than the one that the exchange began with.
    private struct OtherStore: Error {}

    /// Where it is another store than the one of the last exchange, as it was emptied or set up anew, nothing is known of
    /// what it has: versions of the other say nothing here, and what is not there was not removed by anybody.
    private func findOutWhichStoreThisIs() async throws {
        while true {
            if let name = store.value {
                return try await records.noteStore(name, version: store.version)
            }
            do {
                store = try await receipts.replace(store, with: SyncedAttempt<Item>.newName())
            } catch let error as RoostError where error.code == .conflict {
                store = try await receipts.loadEntry(store.key, as: String.self)
            }
        }
    }

    /// Makes sure that what was read at a revision, or where it is `nil` what is read from now on, is of the same store: its
    /// name is there, and was then. That revision is not asked for, as the engine may have given it up.
    func checkStore(at revision: UInt64? = nil) async throws {
        let (record, _) = try await shared.connection.record(
            try receipts.engineKey(store.key), before: shared.workspace.callEnd)
        let name: String? = try receipts.value(of: record, store.key, .codable())
        guard let record, name == store.value, record.revision == store.version,
            record.revision <= revision ?? .max
        else { throw OtherStore() }
    }

    // MARK: Failures

    /// Whether the exchange ends with it: where nobody can be reached, or nobody knows what became of a commit, nothing
    /// more is to be tried.
    func isEnd(_ error: any Error) -> Bool {
        guard let error = error as? RoostError else {
            return error is OtherStore || error is CancellationError
        }
        return [.unavailable, .unknownOutcome, .closed, .cancelled, .poisoned].contains(error.code)
    }

    /// Whether nothing more is to be sent, and what others have sent is to be taken all the same.
    func isEndOfSending(_ error: any Error) -> Bool {
        guard let error = error as? RoostError else { return false }
        return [.outOfSpace, .notPermitted].contains(error.code)
    }

    /// Keeps what an object failed with, to be thrown in the end.
    private func keep(_ error: any Error, _ key: String) {
        guard failure == nil else { return }
        guard var error = error as? RoostError else {
            failure = error
            return
        }
        error.message = "\"\(key)\" in \"\(shared.name)\" was not exchanged: \(error.message)"
        failure = error
    }

    // MARK: Exchanging

    private func sendAll() async throws {
        do {
            try await finishAttempts()
        } catch  where isEndOfSending(error) {
            return keep(error, try records.attempts().first?.key ?? "")
        }
        var waiting = try records.queue.keys[...]
        while !waiting.isEmpty {
            let keys = Array(waiting.prefix(togetherCount))
            waiting = waiting.dropFirst(keys.count)
            let left: [String]
            do { left = try await sendTogether(keys) } catch  where isEndOfSending(error) {
                return keep(error, keys[0])
            }
            for key in left {
                do { try await send(key) } catch  where !isEnd(error) {
                    keep(error, key)
                    if isEndOfSending(error) { return }
                    // Before another attempt takes its place.
                    try await finishAttempts()
                }
            }
        }
    }

    /// Finds out what became of the attempts that an earlier exchange ended in.
    func finishAttempts() async throws {
        while true {
            let attempts = try records.attempts()
            guard let name = attempts.first?.name else { return }
            if receipt.value == name {
                report.sentCount += attempts.count
                _ = try await records.settle(
                    attempts.map { ($0, $0.hasResult ? receipt.version : 0) })
                return
            }
            do {
                // From here on they cannot be made any more.
                let name = SyncedAttempt<Item>.newName()
                receipt = try await receipts.replace(receipt, with: name)
                return try await records.note([])
            } catch let error as RoostError where error.code == .conflict {
                receipt = try await receipts.loadEntry(receipt.key, as: String.self)
            }
        }
    }

    /// Where the engine gives up what is being read, all of it is read again; where it still does after a minute, that takes
    /// longer than it keeps a revision.
    private func takeNew() async throws {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            do { return try await takeNewAtOnce() } catch let error as RoostError
                where error.code == .compacted && ContinuousClock.now < end
            { continue }
        }
    }

    /// Everything that is there and not here, of one revision.
    private func takeNewAtOnce() async throws {
        let scan = SharedScan(shared, KeySelection(), isKeysOnly: false)
        // By their bytes, as strings take canonically equal keys for one.
        var there: Set<[UInt8]> = []
        var next = try await scan.next()
        // All pages are of the first one's revision.
        try await checkStore(at: scan.revision)
        while let record = next {
            let key = scan.key(of: record)
            there.insert(Array(key.utf8))
            // What is here already is not decoded again: it may be of an older form than this version of the app reads.
            if try records.versions.value(forKey: key, as: UInt64.self) != record.revision,
                let item = try readable(record.value, key)
            {
                try await take(key, item, record.revision)
            }
            next = try await scan.next()
        }
        let gone = try records.versions.keys.filter { !there.contains(Array($0.utf8)) }
        guard !gone.isEmpty else { return }
        // One that was set up anew between two pages lacks what the later ones are to have, and nobody has removed it.
        try await checkStore(at: scan.revision)
        for key in gone { try await take(key, nil, 0) }
    }

    /// What one cannot be taken with, as it decodes and does not encode, keeps no other.
    private func take(_ key: String, _ item: Item?, _ version: UInt64) async throws {
        do {
            if try await records.take(key, item, version) { report.takenCount += 1 }
        } catch  where !isEnd(error) && !isEndOfSending(error) { keep(error, key) }
    }

    /// The object; `nil` where its bytes are none, as of a newer version's form. What is here stays then.
    private func readable(_ stored: [UInt8], _ key: String) throws -> Item? {
        let name = try shared.checkedName()
        do { return try form.value(ofStored: stored, key: key, in: name) } catch {
            keep(error, key)
            return nil
        }
    }
}
