import RoostIO
import Synchronization

/// The record that says in which form a namespace is written.
///
/// - A namespace that has keys has the record: whoever connects puts it into an empty one, and a commit that could be the
///   first in a store that was emptied meanwhile is guarded by it. A namespace with keys and without it nobody connects to.
final class SharedFormat: Sendable {
    private static let version = Array("roost 1".utf8)

    let keys: SharedKeys
    /// What set the record, as far as it was read; zero before.
    private let revision = Atomic<UInt64>(0)

    init(_ keys: SharedKeys) { self.keys = keys }

    /// That the record is what it was when it was read; `nil` before it was.
    var condition: SharedGuard? {
        let revision = revision.load(ordering: .acquiring)
        return revision == 0 ? nil : .key(keys.format, revision: revision)
    }

    /// Writes the version into an empty namespace, where it `makes` one; throws where the namespace has another, or none.
    func check(
        _ engine: any SharedEngine, makes: Bool, before deadline: ContinuousClock.Instant
    ) async throws {
        while try await !read(engine, before: deadline) {
            var anything = SharedRead(keys.everything)
            anything.isKeysOnly = true
            guard try await engine.read(anything, before: deadline).records.isEmpty else {
                // It may have been written since by another who connected.
                guard try await read(engine, before: deadline) else { throw foreign }
                return
            }
            guard makes else {
                throw RoostError(.io, "there is no namespace \"\(keys.namespace)\"")
            }
            try await put(engine, before: deadline)
        }
    }

    /// Looks whether the record is still what it was, and puts it back where the store was emptied: this client has checked
    /// once that the namespace is the library's. Whether it was something else.
    func restore(
        _ engine: any SharedEngine, before deadline: ContinuousClock.Instant
    ) async throws -> Bool {
        let known = revision.load(ordering: .acquiring)
        while try await !read(engine, before: deadline) { try await put(engine, before: deadline) }
        return revision.load(ordering: .acquiring) != known
    }

    /// Whether the record is there.
    ///
    /// - Throws: `.unsupportedVersion` where it says another version.
    private func read(
        _ engine: any SharedEngine, before deadline: ContinuousClock.Instant
    ) async throws -> Bool {
        let found = try await engine.read(SharedRead(SharedKeyRange(keys.format)), before: deadline)
        guard let record = found.records.first else { return false }
        guard record.value == Self.version else { throw otherVersion(record.value) }
        revision.store(record.revision, ordering: .releasing)
        return true
    }

    /// Puts it where there is none, which the next look tells.
    private func put(
        _ engine: any SharedEngine, before deadline: ContinuousClock.Instant
    ) async throws {
        let commit = SharedCommit(
            guards: [.key(keys.format, revision: 0)],
            operations: [.put(key: keys.format, value: Self.version, expiresIn: nil)])
        // Writing it twice is no harm.
        do { _ = try await engine.commit(commit, before: deadline) } catch let error as RoostError
            where error.code == .unknownOutcome
        {}
    }

    private var foreign: RoostError {
        RoostError(
            .unsupportedVersion,
            "the namespace \"\(keys.namespace)\" has keys, and not the record that says that they are this library's: another program wrote them. Choose another namespace"
        )
    }

    private func otherVersion(_ found: [UInt8]) -> RoostError {
        let text = String(decoding: found.prefix(40), as: UTF8.self)
        return RoostError(
            .unsupportedVersion,
            "the namespace \"\(keys.namespace)\" is of the form \"\(text)\", which this version does not know"
        )
    }
}
