import Foundation
import RoostEngine
import RoostFormat

// Objects that expire. From its deadline on no call and no query shows an object: it is as if it had been deleted
// at that instant, its index entries with it. docs/decisions/0265.

extension Repository {
    /// Stores an object, in the place of the one with its identifier if there is one. It is gone once `duration` has
    /// passed by the workspace's clock, as a value is by `set(_:forKey:expiresIn:durability:)` of a dictionary; at once
    /// where that is not positive. Its index entries go with it, so that a unique value of it is free then, and live results
    /// lose it. Each later save or update of it that says nothing of expiry makes it stay;
    /// ``update(_:keepsExpiry:durability:_:)`` may leave it its deadline.
    ///
    /// - Throws: as ``save(_:durability:)``.
    public nonisolated(nonsending) func save(
        _ item: Item, expiresIn duration: Duration, durability: Durability? = nil
    ) async throws {
        guard indexes != nil else {
            try checkCancellation()
            let encoded = try encoded(item).with(deadline: deadline(duration))
            return try await dictionary.write(encoded, key(of: item.id), durability)
        }
        try await change(durability) { try $0.save(item, in: self, expiresIn: duration) }
    }

    /// Stores an object whose identifier has none yet, or none any more; else as
    /// ``save(_:expiresIn:durability:)``.
    ///
    /// - Throws: as ``insert(_:durability:)``.
    public nonisolated(nonsending) func insert(
        _ item: Item, expiresIn duration: Duration, durability: Durability? = nil
    ) async throws {
        try await change(durability) { try $0.insert(item, in: self, expiresIn: duration) }
    }

    /// When an object expires; `nil` where there is none, or one that stays. Does not suspend; reads a cold value.
    ///
    /// - Throws: as `contains(_:)` of a dictionary.
    public func expiration(of id: Item.ID) throws -> Date? {
        try dictionary.expiration(forKey: key(of: id))
    }

    fileprivate func deadline(_ duration: Duration) -> Deadline {
        dictionary.workspace.engine.clock.deadline(after: duration)
    }
}

extension Transaction {
    /// Stores an object, which is gone once `duration` has passed from now; as
    /// ``Repository/save(_:expiresIn:durability:)``.
    ///
    /// - Throws: as `save(_:in:)`.
    public mutating func save<Item>(
        _ item: Item, in repository: Repository<Item>, expiresIn duration: Duration
    ) throws {
        try save(item, in: repository, until: repository.deadline(duration))
    }

    /// Stores an object whose identifier has none yet, or none any more, and which is gone once `duration` has passed
    /// from now.
    ///
    /// - Throws: as `insert(_:in:)`.
    public mutating func insert<Item>(
        _ item: Item, in repository: Repository<Item>, expiresIn duration: Duration
    ) throws {
        try insert(item, in: repository, until: repository.deadline(duration))
    }
}
