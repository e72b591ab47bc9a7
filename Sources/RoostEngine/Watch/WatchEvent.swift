import RoostFormat
import RoostIO
import RoostSnapshot

/// What a watcher is told: where the bytes are, not what they mean.
package struct WatchEvent: Sendable {
    package enum Content: Sendable {
        /// What the watched key held when the watcher began.
        /// Apart, as it is large and rare: events are copied all the time.
        indirect case initial(InitialRecord)
        /// A put or a removal.
        case changed(Operation)
        /// All that the watcher looks at was emptied.
        case cleared
        /// Changes that the buffer could not take; or, where the log no longer holds them, the
        /// versions that they were among.
        case missed(Int)
    }

    package let content: Content
    /// The sequence number of the batch; zero where there is none.
    package let version: UInt64
    /// Keeps the bytes in place.
    package let owner: MappedRegion?

    package init(content: Content, version: UInt64 = 0, owner: MappedRegion? = nil) {
        self.content = content
        self.version = version
        self.owner = owner
    }

    /// Whether `operation`, which the event is about, could be read: `checkRead` without saying why not.
    package func isRead(_ operation: Operation) -> Bool {
        do { try checkRead(operation) } catch { return false }
        return true
    }

    /// Throws `.io` where `operation`, which the event is about, could not be read. To be called before it is
    /// believed.
    package func checkRead(_ operation: Operation) throws {
        operation.touch()
        if MappedRegion.faultCount != 0, let owner, owner.contains(operation.location) {
            try owner.checkRead(operation)
        }
    }
}

/// Where a key's record was when a watcher began; read only once it is asked for, since a look
/// into snapshots takes time.
package struct InitialRecord: Sendable {
    enum Place: Sendable {
        case log(Operation, RegionList)
        case cold(ColdHold, clearedSequence: UInt64)
        case absent
        /// A page that the record may stand on could not be read.
        case unreadable(RoostError)
    }

    let place: Place
    let key: [UInt8]
    let hash: UInt64
    /// The provisional version of an enqueued write whose commit is still to come, or zero.
    let awaitedVersion: UInt64

    /// Calls `body` with the value, kind and payload, or with `nil` where there was none.
    package func withValue<Result>(
        _ body: (UnsafeRawBufferPointer?) throws -> Result
    ) throws -> Result {
        switch place {
        case .absent: return try body(nil)
        case .unreadable(let error): throw error
        case .log(let operation, let owner):
            operation.touch()
            if MappedRegion.faultCount != 0 {
                try key.withUnsafeBytes { try owner.checkRead(operation, of: $0) }
            }
            return try withExtendedLifetime(owner) {
                let result = try body(operation.value)
                if MappedRegion.faultCount != 0 {
                    try key.withUnsafeBytes { try owner.checkRead(operation, of: $0) }
                }
                return result
            }
        case .cold(let hold, let clearedSequence):
            return try key.withUnsafeBytes { key in
                guard let found = try hold.find(key, hash: hash), found.record.isPut,
                    found.record.sequence >= clearedSequence
                else { return try body(nil) }
                var result: Result?
                try found.snapshot._withUnsafeGuaranteedRef { snapshot in
                    try snapshot.withValue(of: found.record) { result = try body($0) }
                }
                // `withValue` calls its body, or throws.
                return result!
            }
        }
    }
}

extension ShardState {
    func initialRecord(of key: [UInt8], hash: UInt64) -> InitialRecord {
        let place: InitialRecord.Place = key.withUnsafeBytes { bytes in
            let place = self.place(of: bytes, hash: hash)
            if MappedRegion.faultCount != 0 {
                do { try checkLogRead(bytes, hash: hash) } catch {
                    return .unreadable(
                        error as? RoostError
                            ?? RoostError(.io, "the log could not be read", cause: error))
                }
            }
            return switch place {
            case .log(let operation): .log(operation, owner(of: operation))
            case .cold(let clearedSequence): .cold(cold, clearedSequence: clearedSequence)
            case .absent: .absent
            }
        }
        var awaitedVersion: UInt64 = 0
        // A removal is waited for as a value is: what is committed before it is older than that there is none.
        let newest = key.withUnsafeBytes { enqueued?.table.find($0, hash: hash) }
        if let version = newest?.sequence, enqueued?.committed.contains(version) == false {
            awaitedVersion = version
        }
        return InitialRecord(place: place, key: key, hash: hash, awaitedVersion: awaitedVersion)
    }
}
