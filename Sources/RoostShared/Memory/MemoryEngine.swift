import RoostIO
import Synchronization

/// An engine in this process, which keeps what it has as long as it is referred to: for tests and previews of what
/// runs over a cluster. Several workspaces may connect to one. A call lets other tasks run before it looks, as those of
/// engines on other machines do.
public final class MemoryEngine: SharedEngine {
    public let limits: SharedLimits
    private let tellsTime: Bool
    private let state = Mutex(MemoryRecords())

    /// - Parameters:
    ///   - limits: those of etcd where nothing is said.
    ///   - tellsTime: whether values expire by the system's clock; where it is `false`, as with etcd, by that of each
    ///     workspace's configuration, which a test may set.
    public init(
        limits: SharedLimits = SharedLimits(
            operationCount: 128, commitSizeBytes: 3 << 19, keySizeBytes: 64 << 10),
        tellsTime: Bool = true
    ) {
        self.limits = limits
        self.tellsTime = tellsTime
    }

    /// Forgets all that was before `revision`, as engines do to keep small: what reads or watches from before is
    /// told `.compacted`.
    public func compact(before revision: UInt64) {
        state.withLock { $0.compact(before: revision) }
    }

    public func read(
        _ read: SharedRead, before deadline: ContinuousClock.Instant
    ) async throws -> SharedPage {
        await Task.yield()
        return try state.withLock { state in
            try state.checkOpen()
            state.removeExpired()
            return try state.read(read)
        }
    }

    public func commit(
        _ commit: SharedCommit, before deadline: ContinuousClock.Instant
    ) async throws -> SharedOutcome {
        guard commit.operationCount <= limits.operationCount,
            commit.sizeBytes <= limits.commitSizeBytes
        else { throw RoostError(.tooLarge, "the commit is larger than the engine's limits") }
        await Task.yield()
        let outcome = try state.withLock { state in
            try state.checkOpen()
            state.removeExpired()
            return state.commit(commit)
        }
        for case .put(_, _, let duration?) in commit.operations { removeExpired(after: duration) }
        return outcome
    }

    private func removeExpired(after duration: Duration) {
        Task { [weak self] in
            // One that is not cancelled sleeps to its end, of which no clock knows where it is too far.
            let pause = min(duration, .seconds(1 << 32)) + .milliseconds(1)
            do { try await Task.sleep(for: pause) } catch { return }
            self?.state.withLock { $0.removeExpired() }
        }
    }

    public func watch(_ range: SharedKeyRange, after revision: UInt64) -> SharedEvents {
        let (events, source) = SharedEvents.make()
        let id = state.withLock { state in
            state.begin(MemoryWatcher(range: range, source: source), after: revision)
        }
        source.onEnd { [weak self] in
            // The engine may be telling an event, which ends this one: not while its lock is held.
            Task { self?.state.withLock { _ = $0.watchers.removeValue(forKey: id) } }
        }
        return events
    }

    public func clockMilliseconds(before deadline: ContinuousClock.Instant) async throws -> UInt64?
    {
        tellsTime ? WallTime.milliseconds : nil
    }

    public func close() async {
        state.withLock { $0.close() }
    }

    /// Ends what every watcher is told as if its connection broke.
    public func breakWatches() {
        state.withLock { $0.endWatches(with: RoostError(.unavailable, "the connection broke")) }
    }
}

struct MemoryWatcher {
    let range: SharedKeyRange
    let source: SharedEvents.Source
}

/// What a `MemoryEngine` has.
///
/// - `versions` has for each key its values by revision, the newest last; `keys` are those keys in order.
/// - `history` has all changes from `oldest` on, in the order of their revisions.
struct MemoryRecords {
    struct Version {
        let revision: UInt64
        /// `nil` where the key was removed.
        let value: [UInt8]?
        let expiry: ContinuousClock.Instant?
    }

    private var versions: [[UInt8]: [Version]] = [:]
    private var keys: [[UInt8]] = []
    private var history: [SharedChange] = []
    private var revision: UInt64 = 1
    private var oldest: UInt64 = 1
    /// When the newest value of a key expires, of those that do.
    private var expiring: [[UInt8]: ContinuousClock.Instant] = [:]
    /// No later than any of them.
    private var firstExpiry: ContinuousClock.Instant?
    private var isClosed = false
    private var watcherCount = 0
    var watchers: [Int: MemoryWatcher] = [:]

    func checkOpen() throws {
        if isClosed { throw RoostError(.closed, "the engine was closed") }
    }

    // MARK: Reading

    func read(_ read: SharedRead) throws -> SharedPage {
        let wanted = read.revision ?? revision
        guard wanted >= oldest else {
            throw RoostError(.compacted, "revision \(wanted) is older than \(oldest)")
        }
        let first = index(of: read.range.lower)
        let end = max(first, index(of: read.range.upper))
        let slice = keys[first..<end]
        var records: [SharedRecord] = []
        var hasMore = false
        for key in read.isDescending ? AnySequence(slice.reversed()) : AnySequence(slice) {
            guard let version = version(of: key, at: wanted), let value = version.value else {
                continue
            }
            guard records.count < read.limit else {
                hasMore = true
                break
            }
            records.append(
                SharedRecord(
                    key: key, value: read.isKeysOnly ? [] : value, revision: version.revision,
                    expires: version.expiry != nil))
        }
        return SharedPage(records: records, revision: wanted, hasMore: hasMore)
    }

    private func version(of key: [UInt8], at revision: UInt64) -> Version? {
        versions[key]?.last { $0.revision <= revision }
    }

    /// The place of the first key that is not before `key`.
    private func index(of key: [UInt8]) -> Int {
        var low = 0
        var high = keys.count
        while low < high {
            let middle = (low + high) / 2
            if keys[middle].lexicographicallyPrecedes(key) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }

    // MARK: Changing

    mutating func commit(_ commit: SharedCommit) -> SharedOutcome {
        guard commit.guards.allSatisfy({ holds($0) }) else { return .conflict }
        if let mark = commit.mark, !holds(.key(mark.key, revision: mark.revision)) {
            return .conflict
        }
        revision += 1
        let first = history.count
        for operation in commit.operations { apply(operation) }
        if let mark = commit.mark {
            apply(.put(key: mark.key, value: mark.value, expiresIn: SharedMark.lifetime))
        }
        tell(Array(history[first...]))
        return .committed(revision: revision)
    }

    private func holds(_ condition: SharedGuard) -> Bool {
        switch condition {
        case .key(let key, let expected):
            let newest = versions[key]?.last
            return (newest?.value == nil ? 0 : newest?.revision ?? 0) == expected
        case .nothingNewer(let range, let limit):
            let first = index(of: range.lower)
            let end = max(first, index(of: range.upper))
            return keys[first..<end].allSatisfy { key in
                guard let newest = versions[key]?.last, newest.value != nil else { return true }
                return newest.revision <= limit
            }
        }
    }

    private mutating func apply(_ operation: SharedOperation) {
        switch operation {
        case .put(let key, let value, let duration):
            set(key, value, expiry: duration.map { .now + $0 })
        case .remove(let key):
            if versions[key]?.last?.value != nil { set(key, nil, expiry: nil) }
        case .removeRange(let range):
            let first = index(of: range.lower)
            let end = max(first, index(of: range.upper))
            for key in keys[first..<end] where versions[key]?.last?.value != nil {
                set(key, nil, expiry: nil)
            }
        }
    }

    private mutating func set(
        _ key: [UInt8], _ value: [UInt8]?, expiry: ContinuousClock.Instant?
    ) {
        if versions[key] == nil { keys.insert(key, at: index(of: key)) }
        versions[key, default: []].append(
            Version(revision: revision, value: value, expiry: expiry))
        expiring[key] = expiry
        if let expiry { firstExpiry = min(expiry, firstExpiry ?? expiry) }
        history.append(SharedChange(key: key, value: value, revision: revision))
    }

    mutating func removeExpired() {
        guard let firstExpiry else { return }
        let now = ContinuousClock.now
        guard firstExpiry <= now else { return }
        let past = expiring.filter { $0.value <= now }.keys
        if !past.isEmpty { _ = commit(SharedCommit(operations: past.map { .remove(key: $0) })) }
        self.firstExpiry = expiring.values.min()
    }

    mutating func compact(before limit: UInt64) {
        oldest = max(oldest, min(limit, revision))
        history.removeAll { $0.revision < oldest }
        for (key, all) in versions {
            let visible = all.last { $0.revision <= oldest }
            let kept = all.filter { $0.revision > oldest || $0.revision == visible?.revision }
            if kept.count == 1, kept[0].value == nil {
                versions[key] = nil
                keys.remove(at: index(of: key))
            } else {
                versions[key] = kept
            }
        }
    }

    // MARK: Watching

    mutating func begin(_ watcher: MemoryWatcher, after: UInt64) -> Int {
        watcherCount += 1
        if isClosed {
            watcher.source.end(RoostError(.closed, "the engine was closed"))
        } else if after + 1 < oldest {
            watcher.source.tell(.compacted(oldest: oldest))
            watcher.source.end(nil)
        } else {
            let missed = history.filter { $0.revision > after && watcher.range.contains($0.key) }
            watcher.source.tell(.changes(missed, through: max(after, revision)))
            watchers[watcherCount] = watcher
        }
        return watcherCount
    }

    private func tell(_ changes: [SharedChange]) {
        for watcher in watchers.values {
            let concerned = changes.filter { watcher.range.contains($0.key) }
            watcher.source.tell(.changes(concerned, through: revision))
        }
    }

    mutating func close() {
        isClosed = true
        endWatches(with: RoostError(.closed, "the engine was closed"))
    }

    mutating func endWatches(with error: RoostError) {
        for watcher in watchers.values { watcher.source.end(error) }
        watchers = [:]
    }
}
