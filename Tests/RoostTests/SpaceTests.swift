import Foundation
import Roost
import RoostFormat
import RoostTestSupport
import Synchronization
import Testing

/// Damages, once, what the snapshots have counted, between a merge and what comes after it.
private final class DamagesCounts: WorkspaceObserver {
    private let armed = Atomic<Bool>(false)
    var isArmed: Bool { armed.load(ordering: .sequentiallyConsistent) }
    private let path: String

    init(_ path: String) { self.path = path }

    func arm() { armed.store(true, ordering: .sequentiallyConsistent) }

    func merged(_ merge: ObservedCompaction) {
        guard armed.exchange(false, ordering: .sequentiallyConsistent) else { return }
        do {
            for name in try FileManager.default.contentsOfDirectory(atPath: path)
            where name.hasPrefix("snap") {
                let bytes = try readBytes("\(path)/\(name)")
                let offset = bytes.withUnsafeBytes { bytes in
                    let footer = bytes.count - SnapshotFooter.sizeBytes
                    return bytes.loadUnaligned(fromByteOffset: footer + 144, as: UInt64.self)
                }
                let file = try #require(FileHandle(forUpdatingAtPath: "\(path)/\(name)"))
                try file.seek(toOffset: offset)
                try file.write(contentsOf: [bytes[Int(offset)] ^ 1])
                try file.close()
            }
        } catch { Issue.record(error) }
    }
}

@Suite struct SpaceTests {
    /// One old record kept the clears of all other dictionaries in the manifest for ever.
    @Test func aClearIsForgottenOnceNothingOlderOfItsDictionaryIsLeft() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: path)
            try await workspace.dictionary("old").set(1, forKey: "k")
            for name in ["a", "b"] {
                let dictionary = workspace.dictionary(name)
                try await dictionary.set(1, forKey: "k")
                try await workspace.compact()
                try await dictionary.removeAll()
            }
            try await workspace.dictionary("b").set(2, forKey: "later")
            try await workspace.compact()
            let bytes = try readBytes("\(path)/MANIFEST")
            guard case .valid(let manifest) = bytes.withUnsafeBytes(ManifestRecord.read) else {
                Issue.record("no manifest")
                return
            }
            #expect(manifest.clears.isEmpty)
            try await workspace.close()
            let again = try await Workspace.open(at: path)
            #expect(try again.dictionary("old")["k", as: Int.self] == 1)
            #expect(try again.dictionary("a").count == 0)
            #expect(try again.dictionary("b").keys == ["later"])
            try await again.close()
        }
    }

    /// The merge was through, and counted as failed, as a clear could not be forgotten.
    @Test func aSnapshotWhoseCountsAreDamagedFailsNoMerge() async throws {
        try await withTemporaryDirectory { path in
            let observer = DamagesCounts(path)
            let workspace = try await Workspace.open(
                at: path, configuration: .init(observer: observer))
            try await workspace.dictionary("old").set(1, forKey: "k")
            let cleared = workspace.dictionary("cleared")
            try await cleared.set(1, forKey: "k")
            try await workspace.compact()
            try await cleared.removeAll()
            try await cleared.set(2, forKey: "later")
            observer.arm()
            try await workspace.compact()
            #expect(!observer.isArmed)
            let bytes = try readBytes("\(path)/MANIFEST")
            guard case .valid(let manifest) = bytes.withUnsafeBytes(ManifestRecord.read) else {
                Issue.record("no manifest")
                return
            }
            #expect(manifest.clears.count == 1)
            try await cleared.set(3, forKey: "last")
            #expect(try workspace.dictionary("old")["k", as: Int.self] == 1)
            #expect(try cleared.keys == ["last", "later"])
            #expect(try await !workspace.verify().isSound)
            try await workspace.close()
        }
    }

    @Test func aCompactedWorkspaceTakesLittleMoreThanItsValues() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: path)
            let values = workspace.dictionary("values")
            var random = SeededGenerator(seed: testSeed())
            let count = 200
            for index in 0..<count {
                let words = (0..<8_192).map { _ in random.next() }
                let data = words.withUnsafeBytes { Data($0) }
                try await values.set(data, forKey: "\(index)")
            }
            for _ in 0..<2 {
                try await workspace.compact()
                #expect(try blockBytes(path) < count * 65_536 * 11 / 10 + (6 << 20))
            }
            try await values.set(1, forKey: "last")
            try await workspace.close()
            let again = try await Workspace.open(at: path)
            #expect(try again.dictionary("values").count == count + 1)
            try await again.close()
        }
    }

    /// What the files take on disk, preallocated blocks included.
    private func blockBytes(_ path: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: path).reduce(0) { total, name in
            var status = stat()
            guard stat("\(path)/\(name)", &status) == 0 else { return total }
            return total + Int(status.st_blocks) * 512
        }
    }
}
