/// What one watcher was told: each batch from its begin on, whole and in order, or that it missed some.
///
/// The writers count up by one from batch to batch, over their deaths too: a number that was begun is either in
/// the log, where the next writer finds it, or is written by that one.
struct FollowedChanges: Sendable {
    private enum Expectation: Sendable {
        /// It began at a moment that is not known; this number was seen after it.
        case upToOneMoreThan(UInt64)
        case oneMoreThan(UInt64)
        /// It missed some behind this one.
        case moreThan(UInt64)
    }

    private var next: Expectation
    private var version: UInt64 = 0
    /// The keys that it was told of in the batch `version`.
    private var keys: Set<String> = []
    private var clearedVersion: UInt64?

    /// - Parameter number: What was there after the watching had begun.
    init(upTo number: UInt64) { next = .upToOneMoreThan(number) }

    /// Returns what is wrong with that, if anything is.
    mutating func noteSet(_ key: String, to number: UInt64, in version: UInt64) -> String? {
        if version == self.version, !keys.isEmpty {
            let isNew = keys.insert(key).inserted
            guard isNew, case .oneMoreThan(number) = next else {
                return "\(key) of \(number), told twice or of another batch"
            }
            return nil
        }
        let objection = objection(toBegin: version) ?? objection(to: number, in: version)
        self.version = version
        keys = [key]
        next = .oneMoreThan(number)
        return objection
    }

    mutating func noteRemovedAll(in version: UInt64) -> String? {
        let objection = objection(toBegin: version)
        self.version = version
        keys = []
        clearedVersion = version
        return objection
    }

    mutating func noteMissed() {
        next = .moreThan(told)
        keys = []
        clearedVersion = nil
    }

    /// What is wrong where the workspace showed `number` and then was closed, and all was taken that was told.
    func objection(atEndWith number: UInt64) -> String? {
        if case .moreThan = next { return nil }
        guard told >= number else {
            return "it ended at \(number), of which a watcher was told up to \(told)"
        }
        return isWhole ? nil : "\(told) was told by half at the end"
    }

    private var told: UInt64 {
        switch next {
        case .upToOneMoreThan(let number), .oneMoreThan(let number), .moreThan(let number): number
        }
    }

    /// The batch was told whole, if one was told at all.
    private var isWhole: Bool {
        keys.isEmpty ? clearedVersion != version : keys.count == FollowedPlan.pairKeys.count
    }

    private func objection(toBegin version: UInt64) -> String? {
        if version < self.version { return "a change of version \(version) behind \(self.version)" }
        let isCleared = clearedVersion == version && keys.isEmpty
        if isCleared || isWhole { return nil }
        return "\(told) was told by half: \(keys.sorted())"
    }

    private func objection(to number: UInt64, in version: UInt64) -> String? {
        let isExpected =
            switch next {
            case .upToOneMoreThan(let last): number <= last + 1
            case .oneMoreThan(let last): number == last + 1
            case .moreThan(let last): number > last
            }
        guard isExpected else { return "\(number) was told, and \(next) was to be" }
        guard FollowedPlan.clears(number) == (clearedVersion == version) else {
            return "\(number), without what the batch emptied, or with what it did not"
        }
        return nil
    }
}
