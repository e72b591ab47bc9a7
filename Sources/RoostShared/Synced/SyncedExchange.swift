import Roost
import RoostIO

/// One exchange of a `SyncedRepository` with the shared workspace.
///
/// - Each object is sent in one commit with the *receipt*, the device's own record there, which then has the name of the
///   attempt. So a device that did not get an answer finds out whether its attempt was made, also where others
///   have changed the object since; and it is no conflict of a device with itself.
/// - A commit is guarded by what the receipt was: one attempt of a device is under way at a time, and one that
///   comes late, after a later one, is not made.
/// - An object is written by its key, so the commit takes away the indexes that others have built over it.
final class SyncedExchange<Item: Codable & Identifiable & Sendable>
where Item.ID: KeyRepresentable {
    private let records: SyncedRecords<Item>
    private let shared: SharedDictionary
    private let receipts: SharedDictionary
    private let rule: SyncedRepository<Item>.Rule
    private let form = ValueForm<Item>.codable()
    private var receipt: Entry<String>
    private var report = SyncedRepository<Item>.Report()

    init(
        _ records: SyncedRecords<Item>, _ shared: SharedDictionary,
        _ rule: @escaping SyncedRepository<Item>.Rule
    ) async throws {
        self.records = records
        self.shared = shared
        self.rule = rule
        receipts = shared.workspace.dictionary("\(shared.name)/devices")
        receipt = try await receipts.loadEntry(try await records.deviceName(), as: String.self)
    }

    func run() async throws -> SyncedRepository<Item>.Report {
        try await records.forgetToldResolutions()
        try await findOutWhichStoreThisIs()
        try await finishAttempt()
        for key in try records.queue.keys { try await send(key) }
        try await takeNew()
        report.resolutions = try await records.tellResolutions().map {
            SyncedRepository.Resolution(
                key: $0.key, mine: $0.mine, theirs: $0.theirs, result: $0.result)
        }
        return report
    }

    /// Where it is another store than the one of the last exchange, as it was emptied or set up anew, nothing is known of
    /// what it has: versions of the other say nothing here, and what is not there was not removed by anybody.
    private func findOutWhichStoreThisIs() async throws {
        // No device has the name: theirs are made of letters and digits.
        var mark = try await receipts.loadEntry(".store", as: String.self)
        while mark.value == nil {
            do {
                mark = try await receipts.replace(mark, with: SyncedAttempt<Item>.newName())
            } catch let error as RoostError where error.code == .conflict {
                mark = try await receipts.loadEntry(".store", as: String.self)
            }
        }
        guard let store = mark.value else { return }
        try await records.noteStore(store)
    }

    /// Finds out what became of the attempt that an earlier exchange ended in.
    private func finishAttempt() async throws {
        while let attempt = try records.attempt() {
            if receipt.value == attempt.name {
                report.sentCount += 1
                _ = try await records.settle(
                    attempt, attempt.result == nil ? 0 : receipt.version)
                return
            }
            do {
                // From here on it cannot be made any more.
                let name = SyncedAttempt<Item>.newName()
                receipt = try await receipts.replace(receipt, with: name)
                return try await records.note(nil)
            } catch let error as RoostError where error.code == .conflict {
                receipt = try await receipts.loadEntry(receipt.key, as: String.self)
            }
        }
    }

    private func send(_ key: String) async throws {
        while let (waiting, mine) = try await records.waiting(key) {
            let theirs = try await shared.loadEntry(key, as: Item.self)
            let attempt = try decide(key, waiting, mine, theirs)
            let version: UInt64
            if theirs.version == 0 && attempt.result == nil || attempt.isTheirs {
                version = theirs.version
            } else {
                guard let made = try await make(attempt.attempt, over: theirs) else { continue }
                version = made
                report.sentCount += 1
            }
            if try await records.settle(attempt.attempt, version) { return }
        }
    }

    private struct Decided {
        var attempt: SyncedAttempt<Item>
        /// Nothing is to be written.
        var isTheirs = false
        var result: Item? { attempt.result }
    }

    private func decide(
        _ key: String, _ waiting: Waiting, _ mine: Item?, _ theirs: Entry<Item>
    ) throws -> Decided {
        let isConflict = theirs.version != waiting.base
        var decided = Decided(
            attempt: SyncedAttempt(
                name: SyncedAttempt<Item>.newName(), key: key, number: waiting.number,
                isConflict: isConflict, isMine: true, mine: mine,
                theirs: isConflict ? theirs.value : nil, result: mine))
        guard isConflict else { return decided }
        switch try rule(mine, theirs.value) {
        case .mine: break
        case .theirs:
            decided.attempt.isMine = false
            decided.attempt.result = theirs.value
            decided.isTheirs = true
        case .merged(let item):
            decided.attempt.isMine = false
            decided.attempt.result = item
        }
        return decided
    }

    /// - Returns: the object's version, zero where it was removed; `nil` where another device was first, and it is to be
    ///   decided again.
    private func make(
        _ attempt: SyncedAttempt<Item>, over theirs: Entry<Item>
    ) async throws -> UInt64? {
        try await records.note(attempt)
        let key = try shared.engineKey(attempt.key)
        let receiptKey = try receipts.engineKey(receipt.key)
        let operation: SharedOperation =
            if let result = attempt.result {
                .put(key: key, value: try shared.stored(result, form), expiresIn: nil)
            } else {
                .remove(key: key)
            }
        let name = try receipts.stored(attempt.name, .codable())
        let commit = SharedCommit(
            guards: [
                .key(key, revision: theirs.version),
                .key(receiptKey, revision: receipt.version),
            ],
            operations: [operation, .put(key: receiptKey, value: name, expiresIn: nil)])
        guard
            case .committed(let revision) = try await shared.connection.commit(
                commit, byKeysOf: [shared.name], before: shared.workspace.callEnd)
        else {
            receipt = try await receipts.loadEntry(receipt.key, as: String.self)
            return nil
        }
        receipt = Entry(
            key: receipt.key, value: attempt.name, version: revision,
            in: try receipts.checkedName())
        return attempt.result == nil ? 0 : revision
    }

    /// Everything that is there and not here, of one revision.
    private func takeNew() async throws {
        let scan = SharedScan(shared, KeySelection(), isKeysOnly: false)
        // By their bytes, as strings take canonically equal keys for one.
        var there: Set<[UInt8]> = []
        while let record = try await scan.next() {
            let key = scan.key(of: record)
            there.insert(Array(key.utf8))
            let item = try form.value(ofStored: record.value, key: key, in: shared.checkedName())
            if try await records.take(key, item, record.revision) { report.takenCount += 1 }
        }
        for key in try records.versions.keys where !there.contains(Array(key.utf8)) {
            if try await records.take(key, nil, 0) { report.takenCount += 1 }
        }
    }
}
