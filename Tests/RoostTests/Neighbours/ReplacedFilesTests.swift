import Foundation
import Roost
import RoostTestSupport
import Synchronization
import Testing

/// Files that somebody puts in the place of an open workspace's: a restored backup, another store, none.
@Suite(.timeLimit(.minutes(5))) struct ReplacedFilesTests {
    private func files(_ path: String) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: path)
        where name != "SIGNALS" {
            files[name] = try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)"))
        }
        return files
    }

    private func replace(_ path: String, by other: String?) throws {
        let manager = FileManager.default
        for name in try manager.contentsOfDirectory(atPath: path) {
            try manager.removeItem(atPath: "\(path)/\(name)")
        }
        guard let other else { return }
        for name in try manager.contentsOfDirectory(atPath: other) {
            try manager.copyItem(atPath: "\(other)/\(name)", toPath: "\(path)/\(name)")
        }
    }

    /// The process that has the old files open knew nothing of the new ones, and at its next flush or its close
    /// put its own manifest above them: the restored store was lost.
    @Test(arguments: [true, false]) func aRestoredBackupStaysAsItIs(isCompacted: Bool) async throws
    {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: "\(path)/w")
            let dictionary = workspace.dictionary("d")
            try await dictionary.setAll((0..<500).map { ("k\($0)", $0) })
            try await workspace.backup(to: "\(path)/b")
            try await dictionary.set(-1, forKey: "k0", durability: .synced)
            try replace("\(path)/w", by: "\(path)/b")
            let restored = try files("\(path)/w")

            if isCompacted {
                let error = await #expect(throws: RoostError.self) { try await workspace.compact() }
                #expect(error?.code == .poisoned)
                await #expect(throws: RoostError.self) {
                    try await dictionary.set(2, forKey: "k2")
                }
                try await workspace.close()
            } else {
                await #expect(throws: RoostError.self) { try await workspace.close() }
            }
            let after = try files("\(path)/w")
            for (name, data) in restored { #expect(after[name] == data, "\(name) was changed") }

            let opened = try await Workspace.open(at: "\(path)/w")
            #expect(try opened.dictionary("d").count == 500)
            #expect(try opened.dictionary("d")["k0", as: Int.self] == 0)
            try await opened.close()
        }
    }

    /// The next segment had been made before the files were replaced, and was begun without a look at them: up to
    /// 64 MiB more were acknowledged that no file has.
    @Test func aSegmentThatWasMadeBeforeIsNotBegunInAnotherStore() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: "\(path)/w")
            let dictionary = workspace.dictionary("d")
            try await workspace.backup(to: "\(path)/b")
            let value = [UInt8](repeating: 7, count: 1000)
            var count = 0
            func write(kibibytes: Int) async throws {
                for _ in 0..<kibibytes {
                    try await dictionary.set(value, forKey: "\(count)")
                    count += 1
                }
            }
            try await write(kibibytes: 600)
            // Its preallocation, which gives it its size, is the last of its making.
            func hasNextSegment() throws -> Bool {
                let names = try fileNames(in: "\(path)/w", prefix: "log")
                guard names.count > 1 else { return false }
                let size = try FileManager.default.attributesOfItem(
                    atPath: "\(path)/w/\(names[names.count - 1])")[.size]
                return size as? Int ?? 0 > 0
            }
            while try !hasNextSegment() { try await Task.sleep(for: .milliseconds(2)) }
            try replace("\(path)/w", by: "\(path)/b")
            let error = await #expect(throws: RoostError.self) { try await write(kibibytes: 600) }
            #expect(error?.code == .poisoned)
            await #expect(throws: RoostError.self) { try await workspace.close() }
        }
    }

    @Test func anEmptiedDirectoryIsNotMadeAWorkspaceOfNothing() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: "\(path)/w")
            try await workspace.dictionary("d").setAll((0..<500).map { ("k\($0)", $0) })
            try await workspace.compact()
            try await workspace.dictionary("d").set(1, forKey: "new")
            try replace("\(path)/w", by: nil)
            let error = await #expect(throws: RoostError.self) { try await workspace.compact() }
            #expect(error?.code == .poisoned)
            try await workspace.close()
            #expect(!FileManager.default.fileExists(atPath: "\(path)/w/MANIFEST"))
        }
    }

    @Test func aManifestThatWasDamagedIsWrittenAnew() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: path)
            try await workspace.dictionary("d").setAll((0..<500).map { ("k\($0)", $0) })
            try Data("scanned".utf8).write(to: URL(fileURLWithPath: "\(path)/MANIFEST"))
            try await workspace.compact()
            try await workspace.close()
            let opened = try await Workspace.open(at: path)
            #expect(try opened.dictionary("d").count == 500)
            try await opened.close()
        }
    }

    /// Between its rename and its note the new manifest was taken for somebody else's: a write that began a segment
    /// meanwhile failed, and said that the files had been replaced.
    @Test func aSegmentMayBeginBetweenTheManifestsRenameAndItsSync() async throws {
        try await withTemporaryDirectory { path in
            let gate = Gate()
            let isRenamed = Atomic(false)
            let fileSystem = ObservedFileSystem { call in
                if call == .rename("MANIFEST.new", to: "MANIFEST") {
                    isRenamed.store(true, ordering: .sequentiallyConsistent)
                } else if call == .syncDirectory,
                    isRenamed.exchange(false, ordering: .sequentiallyConsistent)
                {
                    gate.pass()
                }
            }
            let workspace = try await Workspace.open(
                at: path, configuration: .init(shardCount: 2), fileSystem: fileSystem)
            let values = workspace.dictionary("values")
            try await values.set("before", forKey: "k")
            gate.close()
            async let compacted: Void = workspace.compact()
            await gate.waitForArrival()
            // Larger than any segment that is made before.
            let large = String(repeating: "x", count: 9 << 20)
            var failure: (any Error)?
            do {
                for number in 0..<2 { try await values.set(large, forKey: "\(number)") }
            } catch { failure = error }
            gate.open()
            try await compacted
            try #require(failure == nil)
            #expect(try values["1", as: String.self] == large)
            try await workspace.close()
        }
    }

    /// The restored files were put there while a merge or a flush wrote: its snapshot took the name of one of them.
    @Test(arguments: [true, false]) func aRestoredSnapshotKeepsItsName(isMerge: Bool) async throws {
        try await withTemporaryDirectory { path in
            // The same store, two steps on: its snapshot numbers are those that the open one will give.
            let other = try await Workspace.open(at: "\(path)/w")
            try await other.dictionary("d").setAll((0..<500).map { ("k\($0)", $0) })
            try await other.compact()
            try await other.close()
            try FileManager.default.copyItem(atPath: "\(path)/w", toPath: "\(path)/later")
            let later = try await Workspace.open(at: "\(path)/later")
            for round in 1...4 {
                try await later.dictionary("d").setAll((0..<500).map { ("k\($0)", $0 + round) })
                try await later.compact()
            }
            try await later.close()

            let gate = Gate()
            // The flush writes the first, and the merge the second.
            let begun = Mutex<Set<String>>([])
            let fileSystem = ObservedFileSystem { call in
                guard case .write(let name) = call, name.hasPrefix("snapshot-") else { return }
                let count = begun.withLock { begun in
                    begun.insert(name)
                    return begun.count
                }
                if count == (isMerge ? 2 : 1) { gate.pass() }
            }
            let workspace = try await Workspace.open(
                at: "\(path)/w", configuration: .init(), fileSystem: fileSystem)
            try await workspace.dictionary("d").set(7, forKey: "k7")
            gate.close()
            async let compacted: Void = workspace.compact()
            await gate.waitForArrival()
            let written = try fileNames(in: "\(path)/w", prefix: "snapshot-").filter {
                $0.hasSuffix(".new")
            }
            // Whoever restores leaves what is not a store's file.
            let manager = FileManager.default
            for name in try manager.contentsOfDirectory(atPath: "\(path)/w")
            where !written.contains(name) {
                try manager.removeItem(atPath: "\(path)/w/\(name)")
            }
            for name in try manager.contentsOfDirectory(atPath: "\(path)/later") {
                try manager.copyItem(atPath: "\(path)/later/\(name)", toPath: "\(path)/w/\(name)")
            }
            // And one of the very name that is being written.
            for name in written {
                try Data("another's".utf8).write(
                    to: URL(fileURLWithPath: "\(path)/w/\(name.dropLast(4))"))
            }
            let restored = try files("\(path)/w")
            gate.open()
            do {
                try await compacted
                Issue.record("it was compacted")
            } catch { #expect((error as? RoostError)?.code == .poisoned, "\(error)") }
            do { try await workspace.close() } catch is RoostError {}
            let after = try files("\(path)/w")
            for (name, data) in restored where !name.hasSuffix(".new") {
                #expect(after[name] == data, "\(name) was changed")
            }
        }
    }

    /// The snapshots of the newer manifest, which it does not list, were removed as leftovers.
    @Test func anOlderManifestThatIsPutBackAloneIsRefused() async throws {
        try await withTemporaryDirectory { path in
            var workspace = try await Workspace.open(at: path)
            try await workspace.dictionary("d").setAll((0..<500).map { ("k\($0)", $0) })
            try await workspace.compact()
            try await workspace.close()
            let old = try readBytes("\(path)/MANIFEST")
            let oldSnapshots = try files(path).filter { $0.key.hasPrefix("snapshot-") }
            workspace = try await Workspace.open(at: path)
            try await workspace.dictionary("d").setAll((500..<900).map { ("k\($0)", $0) })
            try await workspace.compact()
            try await workspace.close()
            let newest = try readBytes("\(path)/MANIFEST")
            let fileNamesNow = try fileNames(in: path, prefix: "")
            // The compaction has merged the one that it lists into another: as somebody would who restores single files.
            for (name, bytes) in oldSnapshots where !fileNamesNow.contains(name) {
                try bytes.write(to: URL(fileURLWithPath: "\(path)/\(name)"))
            }
            try writeBytes(old, to: "\(path)/MANIFEST")
            let before = try files(path)
            let error = await #expect(throws: RoostError.self) {
                try await Workspace.open(at: path)
            }
            #expect(error?.code == .corrupt)
            #expect(error?.file?.contains("snapshot-") == true)
            #expect(try files(path) == before)
            try writeBytes(newest, to: "\(path)/MANIFEST")
            workspace = try await Workspace.open(at: path)
            #expect(try workspace.dictionary("d").count == 900)
            try await workspace.close()
        }
    }
}
