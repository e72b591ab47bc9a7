import Roost
import RoostFormat
import RoostIO
import Synchronization

/// Brings those keys of a dictionary that were asked for into a local workspace, and their changes from then on.
///
/// - All that is loaded stands at `state.revision`. A key is read at that revision, and what came after it meanwhile is
///   in `Loading.newer`.
/// - The local workspace has the values, which keys are loaded, also those without a value, and the revision, each
///   change of them as one batch.
/// - Whoever changes these, or begins to load, has the turn of `state`.
final class KeyFollower: Sendable {
    private struct Loading {
        var callCount = 0
        /// The newest change since it began.
        var newer: SharedChange?
    }

    private struct Keys {
        var loaded: Set<[UInt8]> = []
        var loading: [[UInt8]: Loading] = [:]
        /// Counts how often everything was read anew: what was read before says nothing then.
        var reloadCount = 0
    }

    let shared: SharedDictionary
    let values: WorkspaceDictionary
    let state = FollowState()
    private let local: Workspace
    private let revisions: WorkspaceDictionary
    private let marks: WorkspaceDictionary
    private let losses: WorkspaceDictionary
    private let keys = Mutex(Keys())

    init(_ shared: SharedDictionary, _ local: Workspace) {
        self.shared = shared
        self.local = local
        let name = shared.connection.keys.pairName(of: shared.name)
        values = local.dictionary("followed-by-key/\(name)")
        marks = local.dictionary("followed-by-key-loaded/\(name)")
        revisions = local.dictionary("followed-by-key")
        losses = local.dictionary(FollowState.lossesName)
    }

    private var connection: SharedConnectionState { shared.connection }
    private var range: SharedKeyRange { connection.keys.range(of: shared.name) }

    /// Goes on from what the local workspace has; with nothing there, from now.
    func begin() async throws {
        _ = try shared.checkedName()
        if let revision = try revisions.value(forKey: values.name, as: UInt64.self) {
            let loaded = try marks.keys.map { Array($0.utf8) }
            keys.withLock { $0.loaded = Set(loaded) }
            state.begin(at: revision)
            if try losses.contains(values.name) { state.noteLoss() }
            // Where nobody has been asked yet, reads do not wait until somebody answers: following finds out.
            guard shared.connection.isConnected else { return }
            do {
                // An engine that was set up anew has other revisions.
                if try await state.asksWhetherLost(revision, shared.workspace) {
                    try await noteLoss()
                }
                if state.hasLost { try await reload() }
            } catch let error as RoostError where [.unavailable, .compacted].contains(error.code) {}
            return
        }
        let heard = ContinuousClock.now
        let revision = try await shared.workspace.revision
        try await local.write { $0.set(revision, forKey: values.name, in: revisions) }
        state.keep(revision)
        state.reach(revision, at: heard)
    }

    // MARK: Following

    /// Follows until the task is cancelled or the workspace closed, and keeps the revision that it reached.
    func run() async {
        await follow()
        // Who still loads a key would write over what the next follower brings. What has its turn is waited for below.
        state.end()
        // The task may be cancelled, and this is to be done all the same.
        await Task { await keepRevision() }.value
    }

    private func follow() async {
        var backoff = Backoff()
        while !Task.isCancelled {
            do {
                if state.hasLost { try await reload() }
                let reader = ChangeReader(shared, range, after: state.revision) { [state] in
                    state.revision
                }
                while let next = await reader.nextElements() {
                    let (elements, through, heard) = (next.elements, next.through, next.instant)
                    if elements.contains(where: { if case .missed = $0 { true } else { false } }) {
                        if through < state.revision { try await noteLoss() }
                        try await reload()
                        break
                    }
                    try await state.withTurn { [self] in try await apply(elements, through, heard) }
                    if ContinuousClock.now - state.keptInstant > Follower.keepingInterval {
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

    /// So that a later opening begins where this one was, though no key that is loaded was changed for long.
    private func keepRevision() async {
        do {
            try await state.withTurn { [self] in
                let revision = state.revision
                guard revision != state.keptRevision else { return }
                try await local.write { $0.set(revision, forKey: values.name, in: revisions) }
                state.keep(revision)
            }
        } catch { state.note(error) }
    }

    private func apply(
        _ elements: [ChangeReader.Element], _ revision: UInt64, _ heard: ContinuousClock.Instant
    ) async throws {
        var kept: [SharedChange] = []
        var isLoading: [SharedChange] = []
        keys.withLock { keys in
            for change in state.newer(of: elements) {
                let key = Array(change.key.dropFirst(shared.start.count))
                if keys.loaded.contains(key) { kept.append(change) }
                if keys.loading[key] != nil { isLoading.append(change) }
            }
        }
        if !kept.isEmpty {
            try await local.write { batch in
                for change in kept {
                    try put(change.value, text(change.key), to: &batch)
                }
                batch.set(revision, forKey: values.name, in: revisions)
            }
            state.keep(revision)
        }
        keys.withLock { keys in
            for change in isLoading {
                keys.loading[Array(change.key.dropFirst(shared.start.count))]?.newer = change
            }
        }
        state.reach(revision, at: heard)
    }

    /// As of `Follower`, of the keys that are loaded.
    func pass(before deadline: ContinuousClock.Instant) async throws {
        let (restartCount, revision) = (state.restartCount, state.revision)
        let heard = ContinuousClock.now
        let loaded = keys.withLock { Array($0.loaded) }
        let (_, newest) = try await connection.record(connection.keys.format, before: deadline)
        guard newest > revision else { return }
        let records = try await records(loaded, at: newest, before: deadline)
        guard records.allSatisfy({ $0.map { $0.revision <= revision } ?? true }) else { return }
        let absent = zip(loaded, records).filter { $1 == nil }.map { key, _ in
            String(decoding: key, as: UTF8.self)
        }
        try await state.withTurn { [self] in
            // Those that were loaded since were not looked at, and one that is being loaded waits for what came since.
            let isAll = keys.withLock { $0.loaded.count == loaded.count && $0.loading.isEmpty }
            guard isAll, !state.hasLost, state.restartCount == restartCount,
                state.revision == revision
            else { return }
            guard try !absent.contains(where: values.contains) else { return }
            state.reach(newest, at: heard)
        }
    }

    /// All loaded keys as they are at one revision, in the place of what was there; where `known` is not `nil`, only if they
    /// are still of that revision.
    private func reload(from known: UInt64? = nil) async throws {
        try await state.withTurn(isCancellable: true) { [self] in
            try requireFollowed()
            if let known, state.revision != known { return }
            let isNew = state.hasLost
            let heard = ContinuousClock.now
            let loaded = keys.withLock { Array($0.loaded) }
            let revision = try await shared.workspace.revision
            guard isNew || revision >= state.revision else { return }
            let records = try await records(loaded, at: revision)
            try await local.write { batch in
                batch.removeAll(in: values)
                batch.removeValue(forKey: values.name, in: losses)
                for case let record? in records {
                    try put(record.value, text(record.key), to: &batch)
                }
                batch.set(revision, forKey: values.name, in: revisions)
            }
            state.keep(revision)
            keys.withLock { keys in
                keys.reloadCount += 1
                // Of an engine that was set up anew since, it would have too high a revision for ever.
                for key in keys.loading.keys { keys.loading[key]?.newer = nil }
            }
            if isNew {
                state.restart(at: revision, heard)
            } else {
                state.reach(revision, at: heard)
            }
        }
    }

    /// How many keys are read within one call's deadline when all are read anew.
    private static let keyCountAtOnce = 256

    private func records(
        _ keys: [[UInt8]], at revision: UInt64, before deadline: ContinuousClock.Instant? = nil
    ) async throws -> [SharedRecord?] {
        var records: [SharedRecord?] = []
        records.reserveCapacity(keys.count)
        for first in stride(from: 0, to: keys.count, by: Self.keyCountAtOnce) {
            let piece = keys[first..<min(first + Self.keyCountAtOnce, keys.count)]
            records += try await connection.records(
                piece.map { shared.start + $0 }, at: revision,
                before: deadline ?? shared.workspace.callEnd)
        }
        return records
    }

    // MARK: Loading

    func isLoaded(_ key: String) -> Bool { keys.withLock { $0.loaded.contains(Array(key.utf8)) } }

    /// Loads a key; returns at once where it is loaded.
    ///
    /// - Throws: `.unavailable` where the engine cannot be reached, `.cancelled`; `.closed` where the dictionary is not followed
    ///   any more.
    func load(_ key: String) async throws {
        if isLoaded(key) { return }
        let engineKey = try shared.engineKey(key)
        let deadline = shared.workspace.callEnd
        let bytes = Array(key.utf8)
        keys.withLock { $0.loading[bytes, default: Loading()].callCount += 1 }
        defer {
            keys.withLock { keys in
                keys.loading[bytes]?.callCount -= 1
                if keys.loading[bytes]?.callCount == 0 { keys.loading[bytes] = nil }
            }
        }
        var backoff = Backoff()
        let reloading = ContinuousClock.now + Self.tellingLimit
        while true {
            let attempt = try await tryToLoad(bytes, engineKey, before: deadline)
            if case .loaded = attempt { return }
            guard ContinuousClock.now < deadline else {
                throw RoostError(
                    .unavailable,
                    "\"\(key)\" was not loaded until the call's deadline: the engine has given up the revision \(state.revision), and has not told what came since",
                    cause: state.lookFailure)
            }
            if case .givenUp(let revision) = attempt, ContinuousClock.now >= reloading {
                // Some versions of etcd tell nothing as long as the dictionary is not changed.
                state.lookBeside { [self] in try await reload(from: revision) }
            }
            try await backoff.wait(before: deadline)
        }
    }

    /// How long an engine that says how far it is takes for that at most, where nothing keeps it.
    private static let tellingLimit = Duration.milliseconds(250)

    /// What became of an attempt to load a key.
    private enum Attempt {
        case loaded
        /// All was read anew meanwhile.
        case overtaken
        /// The engine no longer has the revision that all is of.
        case givenUp(revision: UInt64)
    }

    private func tryToLoad(
        _ key: [UInt8], _ engineKey: [UInt8], before deadline: ContinuousClock.Instant
    ) async throws -> Attempt {
        let (revision, reloadCount) = try await state.withTurn { [self] () -> (UInt64, Int) in
            try requireFollowed()
            return keys.withLock { (state.revision, $0.reloadCount) }
        }
        guard let record = try await record(engineKey, at: revision, before: deadline) else {
            return .givenUp(revision: revision)
        }
        return try await state.withTurn { [self] in
            try requireFollowed()
            let (newer, isCurrent) = keys.withLock { keys in
                (keys.loading[key]?.newer, keys.reloadCount == reloadCount)
            }
            guard isCurrent else { return .overtaken }
            try await local.write { batch in
                let isNewer = newer.map { $0.revision > revision } ?? false
                let value = isNewer ? newer?.value : record?.value
                try put(value, String(decoding: key, as: UTF8.self), to: &batch)
                batch.set(true, forKey: String(decoding: key, as: UTF8.self), in: marks)
                batch.set(state.revision, forKey: values.name, in: revisions)
            }
            keys.withLock { _ = $0.loaded.insert(key) }
            return .loaded
        }
    }

    /// The record of a key at a revision, which may be none; `nil` where the engine has given that up, and what is there
    /// now was set since.
    private func record(
        _ engineKey: [UInt8], at revision: UInt64, before deadline: ContinuousClock.Instant
    ) async throws -> SharedRecord?? {
        do {
            return try await .some(
                connection.record(engineKey, at: revision, before: deadline).record)
        } catch let error as RoostError where error.code == .compacted {
            let (newest, _) = try await connection.record(engineKey, before: deadline)
            guard let newest, newest.revision <= revision else { return nil }
            return .some(newest)
        }
    }

    private func requireFollowed() throws {
        guard !state.hasEnded else {
            throw RoostError(
                .closed,
                "\"\(shared.name)\" is not followed here any more, so no key of it is loaded: follow it again"
            )
        }
    }

    private func text(_ engineKey: [UInt8]) -> String {
        String(decoding: engineKey.dropFirst(shared.start.count), as: UTF8.self)
    }

    private func put(_ stored: [UInt8]?, _ key: String, to batch: inout WriteBatch) throws {
        guard let stored else { return batch.removeValue(forKey: key, in: values) }
        guard let value = stored.withUnsafeBytes({ StoredValue(stored: $0) }) else {
            throw RoostError(.decodingFailed, "\"\(key)\" in \"\(shared.name)\" has no kind")
        }
        batch.setStored(value, forKey: key, in: values)
    }
}
