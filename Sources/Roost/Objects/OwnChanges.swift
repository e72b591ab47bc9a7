/// The keys that an ``ObservedRepository`` has changed itself, until all that came before has been told to it: what it is told
/// meanwhile may be older than what it shows.
///
/// - A key's version is the newest batch that what is shown of it can be of; `unsettled` has those of which it is not known
///   yet, as an enqueued write without a place among the changes is read too.
/// - `told` has the versions that were known, in rising order, each with its key. A pair whose key has another version by
///   now says nothing.
struct OwnChanges {
    private var versions: [[UInt8]: UInt64] = [:]
    private var unsettled: Set<[UInt8]> = []
    private var told: [(version: UInt64, key: [UInt8])] = []
    /// The first pair that still counts.
    private var firstTold = 0

    var keys: [[UInt8]] { Array(versions.keys) + unsettled }
    var count: Int { versions.count + unsettled.count }

    func contains(_ key: [UInt8]) -> Bool { versions[key] != nil || unsettled.contains(key) }

    /// What is shown of the key is at the most as new as `version`; `nil` where that is not known yet.
    mutating func note(_ key: [UInt8], _ version: UInt64?) {
        guard let version else {
            versions[key] = nil
            unsettled.insert(key)
            return
        }
        unsettled.remove(key)
        versions[key] = version
        told.append((version, key))
    }

    /// No enqueued write is without a place among the changes, and the newest of these is `version`.
    mutating func settle(_ version: UInt64) {
        for key in unsettled { note(key, version) }
    }

    var hasUnsettled: Bool { !unsettled.isEmpty }

    /// Whether what the batch `version` has made of a key is at least as new as what is shown. It is forgotten then.
    mutating func isPassed(_ key: [UInt8], by version: UInt64) -> Bool {
        guard contains(key) else { return true }
        guard let own = versions[key], own <= version else { return false }
        versions[key] = nil
        return true
    }

    /// All that was committed before the batch `version` has been told.
    mutating func forget(before version: UInt64) {
        while firstTold < told.count, told[firstTold].version < version {
            let pair = told[firstTold]
            if versions[pair.key] == pair.version { versions[pair.key] = nil }
            firstTold += 1
        }
        // Taken out now and then: each is moved once at the most.
        if firstTold > 64, firstTold * 2 > told.count {
            told.removeFirst(firstTold)
            firstTold = 0
        }
    }
}
