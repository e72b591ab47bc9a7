/// Ways in which an engine can be made to do what it must not, so that tests can show that they
/// would notice. Looked at only where readers and writers seldom come.
package struct PlantedFaults: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A value loaded from cold storage becomes resident though the key has moved on.
    package static let staleResidents = PlantedFaults(rawValue: 1)
    /// Transactions commit though a key that they read has changed: lost updates.
    package static let ignoredReads = PlantedFaults(rawValue: 2)
    /// Transactions commit though a key came or went in a range that they read: phantoms.
    package static let ignoredRanges = PlantedFaults(rawValue: 4)
    /// Read views begin shard by shard: half-seen batches.
    package static let tornViews = PlantedFaults(rawValue: 8)
    /// Changes are made at once though something comes first.
    package static let ignoredTurns = PlantedFaults(rawValue: 16)
    /// Changes are made at once though others are guarded by now.
    package static let ignoredGuards = PlantedFaults(rawValue: 32)
    /// Changes that are made at once become visible shard by shard.
    package static let tornEntries = PlantedFaults(rawValue: 64)
}
