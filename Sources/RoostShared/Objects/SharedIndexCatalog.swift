import Foundation
import Roost
import RoostIO
import Synchronization

/// Which indexes the objects of a dictionary have, as the record `namespace/%indexes/DICTIONARY` says.
///
/// - The entries of each stand after `namespace/%entries/DICTIONARY/NUMBER/`; a number is never used again.
/// - Whoever changes the dictionary guards its commit by the version of the record, which is none where there are no
///   indexes. So an index that is listed has been written with each object since it was listed, and what a writer
///   does not keep, by another declaration or by writing keys, it takes out of the list in the same commit.
struct SharedIndexCatalog: Codable, Sendable, Equatable {
    struct Listed: Codable, Sendable, Equatable {
        var name: String
        var shape: String
        var number: UInt64
        /// Whether every object has its entries; until then only those written since it was listed.
        var isBuilt: Bool
    }

    var nextNumber: UInt64 = 1
    var indexes: [Listed] = []

    init() {}

    init(stored: [UInt8], of dictionary: String) throws {
        do { self = try JSONDecoder().decode(Self.self, from: Data(stored)) } catch {
            throw RoostError(
                .unsupportedVersion,
                "the list of indexes of \"\(dictionary)\" is none that this version knows",
                cause: error)
        }
    }

    func stored() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return Array(try encoder.encode(self))
    }

    /// Those that a type declares, by their places in the declaration.
    func listed<Item>(_ declared: DeclaredIndexes<Item>) -> [(place: Int, index: Listed)] {
        declared.places.compactMap { place in
            indexes.first {
                $0.name == declared.name(at: place) && $0.shape == declared.shape(at: place)
            }.map { (place, $0) }
        }
    }
}

/// A catalog, and the commit that wrote it; zero where there is none.
struct KnownCatalog: Sendable {
    var catalog = SharedIndexCatalog()
    var revision: UInt64 = 0
}

/// The catalogs that were read, by the keys of their records. Each may have been changed since: that is what the guard is
/// for.
final class KnownCatalogs: Sendable {
    private let all = Mutex<[[UInt8]: KnownCatalog]>([:])

    subscript(key: [UInt8]) -> KnownCatalog? {
        get { all.withLock { $0[key] } }
        set { all.withLock { $0[key] = newValue } }
    }

    func forget(_ keys: some Sequence<[UInt8]>) {
        all.withLock { all in for key in keys { all[key] = nil } }
    }
}

extension SharedConnectionState {
    /// The catalog of a dictionary and the revision that was read at, which is the newest where it is `nil`.
    func readCatalog(
        of dictionary: String, at revision: UInt64? = nil, before deadline: ContinuousClock.Instant
    ) async throws -> (known: KnownCatalog, revision: UInt64) {
        let key = keys.catalog(of: dictionary)
        let (record, newest) = try await record(key, at: revision, before: deadline)
        var known = KnownCatalog()
        if let record {
            known.catalog = try SharedIndexCatalog(stored: record.value, of: dictionary)
            known.revision = record.revision
        }
        catalogs[key] = known
        return (known, newest)
    }

    /// Makes a commit that changes dictionaries, each named once, by their keys, which takes their indexes away.
    ///
    /// Reads the catalog of each at its first change, and again where a guard did not hold.
    func commit(
        _ commit: SharedCommit, byKeysOf dictionaries: [String],
        before deadline: ContinuousClock.Instant
    ) async throws -> SharedOutcome {
        try await connect(before: deadline)
        try checkLimits(commit)
        var known: [KnownCatalog] = []
        for name in dictionaries {
            if let catalog = catalogs[keys.catalog(of: name)] {
                known.append(catalog)
            } else {
                known.append(try await readCatalog(of: name, before: deadline).known)
            }
        }
        var backoff = Backoff()
        while true {
            var guarded = commit
            var changed: [[UInt8]] = []
            for (name, catalog) in zip(dictionaries, known) {
                let key = keys.catalog(of: name)
                guarded.guards.append(.key(key, revision: catalog.revision))
                guard !catalog.catalog.indexes.isEmpty else { continue }
                changed.append(key)
                guarded.operations += try operationsDroppingIndexes(of: name, catalog)
            }
            if !changed.isEmpty, !hasRoom(for: guarded) {
                // Without indexes it has the room that it has for any dictionary: they go first.
                for (place, name) in dictionaries.enumerated() {
                    try await dropIndexes(of: name, before: deadline)
                    known[place] = try await readCatalog(of: name, before: deadline).known
                }
                guard ContinuousClock.now < deadline else {
                    throw RoostError(.unavailable, "indexes were built until the call's deadline")
                }
                continue
            }
            let outcome = try await self.commit(guarded, before: deadline)
            catalogs.forget(changed)
            guard outcome == .conflict else { return outcome }
            // Was it a catalog that was changed, or what the commit itself rests on?
            var isOther = false
            for (place, name) in dictionaries.enumerated() {
                let newer = try await readCatalog(of: name, before: deadline).known
                if newer.revision != known[place].revision { isOther = true }
                known[place] = newer
            }
            if isOther { continue }
            if !commit.guards.isEmpty { return .conflict }
            // Not a guard, then: nothing says that it is not to be made.
            guard ContinuousClock.now < deadline else {
                throw RoostError(
                    .unavailable, "the engine did not take the write within the deadline")
            }
            try await backoff.wait(before: deadline)
        }
    }

    /// Takes the indexes of a dictionary away.
    func dropIndexes(
        of dictionary: String, before deadline: ContinuousClock.Instant
    ) async throws {
        let known = try await readCatalog(of: dictionary, before: deadline).known
        guard !known.catalog.indexes.isEmpty else { return }
        _ = try await commit(SharedCommit(), byKeysOf: [dictionary], before: deadline)
    }

    private func operationsDroppingIndexes(
        of dictionary: String, _ known: KnownCatalog
    ) throws -> [SharedOperation] {
        var catalog = known.catalog
        catalog.indexes = []
        return [
            .put(
                key: keys.catalog(of: dictionary), value: try catalog.stored(), expiresIn: nil),
            .removeRange(keys.entries(of: dictionary)),
        ]
    }
}
