import Roost
import RoostFormat
import RoostIO

/// Brings a dictionary's changes into a local workspace.
///
/// - The values and the revision that they stand at are one batch: the local workspace has no revision without all
///   that belongs to it, also after a crash.
/// - In a turn of `state`, the values here are those of `state.revision`.
struct Follower: Sendable {
    let shared: SharedDictionary
    let values: WorkspaceDictionary
    let state = FollowState()
    private let local: Workspace
    private let revisions: WorkspaceDictionary
    private let losses: WorkspaceDictionary

    init(_ shared: SharedDictionary, _ local: Workspace) {
        self.shared = shared
        self.local = local
        losses = local.dictionary(FollowState.lossesName)
        let name = shared.connection.keys.pairName(of: shared.name)
        values = local.dictionary("followed/\(name)")
        revisions = local.dictionary("followed")
    }

    private var range: SharedKeyRange { shared.connection.keys.range(of: shared.name) }

    /// Loads everything, unless the local workspace has it.
    func begin() async throws {
        _ = try shared.checkedName()
        guard let revision = try revisions.value(forKey: values.name, as: UInt64.self) else {
            return try await readingAgain { try await loadAll() }
        }
        state.begin(at: revision)
        if try losses.contains(values.name) { state.noteLoss() }
        // Where nobody has been asked yet, reads do not wait until somebody answers: following finds out.
        guard shared.connection.isConnected else { return }
        // The engine may have been set up anew since, or be out of reach.
        do {
            if try await state.asksWhetherLost(revision, shared.workspace) { try await noteLoss() }
            if state.hasLost { try await loadAll() }
        } catch let error as RoostError where [.unavailable, .compacted].contains(error.code) {}
    }

    /// Follows until the task is cancelled or the workspace closed, and keeps the revision that it reached.
    func run() async {
        await follow()
        // The task may be cancelled, and this is to be done all the same.
        await Task { await keepRevision() }.value
    }

    private func follow() async {
        var backoff = Backoff()
        while !Task.isCancelled {
            do {
                if state.hasLost { try await loadAll() }
                let reader = ChangeReader(shared, range, after: state.revision) { state.revision }
                while let next = await reader.nextElements() {
                    if next.elements.contains(where: \.isMissed) {
                        if next.through < state.revision { try await noteLoss() }
                        try await loadAll()
                        break
                    }
                    try await state.withTurn { [self] in
                        try await apply(next.elements, next.through)
                        state.reach(next.through, at: next.instant)
                    }
                    if ContinuousClock.now - state.keptInstant > Self.keepingInterval {
                        await keepRevision()
                    }
                    backoff = Backoff()
                }
                if Task.isCancelled { return }
                if let failure = reader.failure { throw failure }
            } catch let error as RoostError where error.code == .closed {
                return
            } catch {
                // What could not be stored or loaded is asked for again: the revision says from where.
                state.note(error)
            }
            do { try await backoff.wait(before: .now + .seconds(60)) } catch { return }
        }
    }

    /// Also another opening is to load everything anew, where this one ends before it has.
    private func noteLoss() async throws {
        state.noteLoss()
        try await losses.set(true, forKey: values.name, durability: .synced)
    }

    /// How long a revision may go unkept to which no changes belong.
    static let keepingInterval = Duration.seconds(10)

    /// So that a later opening begins where this one was, though nothing was changed here for long.
    private func keepRevision() async {
        let revision = state.revision
        guard revision != state.keptRevision else { return }
        do {
            try await local.write { $0.set(revision, forKey: values.name, in: revisions) }
            state.keep(revision)
        } catch { state.note(error) }
    }

    private func apply(_ elements: [ChangeReader.Element], _ revision: UInt64) async throws {
        let changes = state.newer(of: elements)
        guard !changes.isEmpty else { return }
        try await local.write { batch in
            for change in changes {
                let key = String(decoding: change.key.dropFirst(shared.start.count), as: UTF8.self)
                if let value = change.value {
                    try add(value, key, to: &batch)
                } else {
                    batch.removeValue(forKey: key, in: values)
                }
            }
            batch.set(revision, forKey: values.name, in: revisions)
        }
        state.keep(revision)
    }

    /// Says that all is here up to the engine's newest commit, where the dictionary has no newer change there than here:
    /// some versions of etcd do not tell how far they are while it has none.
    ///
    /// A key that was set and removed since leaves nothing there. It is not told of later either.
    func pass(before deadline: ContinuousClock.Instant) async throws {
        let (restartCount, revision) = (state.restartCount, state.revision)
        let heard = ContinuousClock.now
        let scan = SharedScan(
            shared, KeySelection(), isKeysOnly: true, before: deadline, isRaw: true)
        // Of bytes, as strings that are equal may be several keys.
        var keys: Set<[UInt8]> = []
        while let record = try await scan.next() {
            guard record.revision <= revision else { return }
            keys.insert(Array(record.key.dropFirst(shared.start.count)))
        }
        guard let newest = scan.revision, newest > revision else { return }
        try await state.withTurn { [self, keys] in
            guard !state.hasLost, state.restartCount == restartCount, state.revision == revision
            else { return }
            // What is here and not there was removed.
            guard try values.keys.allSatisfy({ keys.contains(Array($0.utf8)) }) else { return }
            state.reach(newest, at: heard)
        }
    }

    /// Everything of one revision, in the place of what was there.
    private func loadAll() async throws {
        try await state.withTurn(isCancellable: true) { [self] in try await loadInTurn() }
    }

    private func loadInTurn() async throws {
        let isNew = state.hasLost
        let heard = ContinuousClock.now
        // Also what has expired: changes bring it too, and the clock may be ahead, and set back later.
        let scan = SharedScan(shared, KeySelection(), isKeysOnly: false, isRaw: true)
        var records: [SharedRecord] = []
        while let record = try await scan.next() { records.append(record) }
        let revision = scan.revision ?? 0
        // Read out of order, an older state may come after a newer one.
        guard isNew || revision >= state.revision else { return }
        try await local.write { batch in
            batch.removeAll(in: values)
            batch.removeValue(forKey: values.name, in: losses)
            for record in records { try add(record.value, scan.key(of: record), to: &batch) }
            batch.set(revision, forKey: values.name, in: revisions)
        }
        state.keep(revision)
        if isNew { state.restart(at: revision, heard) } else { state.reach(revision, at: heard) }
    }

    private func add(_ stored: [UInt8], _ key: String, to batch: inout WriteBatch) throws {
        guard let value = stored.withUnsafeBytes({ StoredValue(stored: $0) }) else {
            throw RoostError(.decodingFailed, "\"\(key)\" in \"\(shared.name)\" has no kind")
        }
        batch.setStored(value, forKey: key, in: values)
    }
}

extension ChangeReader.Element {
    fileprivate var isMissed: Bool {
        if case .missed = self { true } else { false }
    }
}
