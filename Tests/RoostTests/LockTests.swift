import Foundation
import Roost
import RoostTestSupport
import Testing

@Suite struct LockTests {
    private func openFails(_ path: String, _ access: Workspace.Configuration.Access) async
        -> RoostError.Code?
    {
        do {
            _ = try await Workspace.open(at: path, configuration: .init(access: access))
            return nil
        } catch { return (error as? RoostError)?.code }
    }

    /// A disk that is busy may keep the threads of an opening before, which nobody refers to any more, for longer than one at
    /// once waits.
    private func opened(_ path: String, atOnce: Bool) async throws -> Workspace {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            do {
                if atOnce { return try Workspace(at: path) }
                return try await Workspace.open(at: path)
            } catch let error as RoostError where error.code == .locked {
                guard ContinuousClock.now < end else { throw error }
                await Task.yield()
            }
        }
    }

    /// Leaves the workspace open, which nobody refers to afterwards.
    private func count(
        _ count: Int, in path: String, whileOpen: () throws -> Void = {}
    ) async throws {
        let counts = try await opened(path, atOnce: count % 2 == 0).dictionary("counts")
        #expect(try counts["count", default: 0] == count - 1)
        try await counts.set(count, forKey: "count")
        if count % 3 == 0 { counts.enqueue(count, forKey: "enqueued") }
        try withExtendedLifetime(counts, whileOpen)
    }

    @Test func aSecondOpeningForWritingInThisProcessIsLocked() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: path)
            #expect(await openFails(path, .readWrite) == .locked)
            #expect(await openFails(path, .readOnly) == nil)
            try await workspace.close()
            let again = try await Workspace.open(at: path)
            try await again.close()
        }
    }

    /// Leaves the workspace open, which nobody refers to afterwards.
    private func writeWithinTenMinutes(in path: String, isUsual: Bool) async throws {
        let interval = Durability.interval(.seconds(600))
        let workspace = try await Workspace.open(
            at: path, configuration: .init(durability: isUsual ? interval : .process))
        try await workspace.dictionary("counts").set(
            1, forKey: "count", durability: isUsual ? nil : interval)
    }

    /// What waited for the end of the interval kept the lock until then.
    @Test(arguments: [true, false])
    func whatNobodyRefersToIsOpenedAgainThoughItsIntervalIsLong(isUsual: Bool) async throws {
        try await withTemporaryDirectory { path in
            try await writeWithinTenMinutes(in: path, isUsual: isUsual)
            let workspace = try await opened(path, atOnce: false)
            let count = try workspace.dictionary("counts")["count", default: 0]
            #expect(count == 1)
            try await workspace.close()
        }
    }

    @Test func whatNobodyRefersToAnyMoreIsOpenedAgainAtOnce() async throws {
        try await withTemporaryDirectory { path in
            for count in 1...30 { try await self.count(count, in: path) }
            let last = try await Workspace.open(at: path)
            let enqueued = try last.dictionary("counts")["enqueued", default: 0]
            #expect(enqueued == 30)
            #expect(await openFails(path, .readWrite) == .locked)
            try await last.close()
        }
    }

    private struct Tag: Codable, Identifiable, Indexed {
        var id: Int
        var number: Int
        static var indexes: [Index<Tag>] { [Index("number", \.number)] }
    }

    /// Leaves the workspace open while its index is built.
    private func beginBuilding(_ count: Int, in path: String) async throws {
        let tags = try await Workspace.open(at: path).repository(of: Tag.self)
        // By the dictionary's keys, so that the index is to be built anew.
        try await tags.dictionary.setAll(
            (0..<2_000).map { (tags.key(of: $0), Tag(id: $0, number: $0 * count)) })
        #expect(try tags.where { $0.number == 0 }.count() == 1)
        try await tags.save(Tag(id: 0, number: 0))
    }

    @Test func whatNobodyRefersToWhileAnIndexIsBuiltIsOpenedAgain() async throws {
        try await withTemporaryDirectory { path in
            for count in 1...20 { try await beginBuilding(count, in: path) }
            let last = try await Workspace.open(at: path)
            let tags = last.repository(of: Tag.self)
            try await tags.indexesBuilt()
            let found = tags.where { $0.number == 40 }
            #expect(try found.explain().hasPrefix("index \"number\""))
            #expect(try found.fetch().map(\.id) == [2])
            try await last.close()
        }
    }

    @Test func aSecondOpeningInAnotherProcessIsLocked() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: path)
            let child = try CrashWriter(path, mode: "open")
            #expect(child.waitForEnd() == 2)
            #expect(child.lines == ["error locked"])
            try await workspace.close()
            let second = try CrashWriter(path, mode: "open")
            #expect(second.waitForEnd() == 0)
        }
    }

    @Test func theLockGoesWithAKilledOwner() async throws {
        try await withTemporaryDirectory { path in
            let child = try CrashWriter(path, mode: "hold")
            #expect(child.read(lineCount: 1))
            #expect(await openFails(path, .readWrite) == .locked)
            child.kill()
            let workspace = try await Workspace.open(at: path)
            try await workspace.close()
        }
    }

    #if os(Linux)
        /// A child process has a copy of each descriptor until it runs a program of its own: a busy system takes its time.
        @Test func childrenThatAreBeingStartedKeepNobodyOut() async throws {
            try await withTemporaryDirectory { path in
                var copies: [Int32] = []
                defer { for copy in copies { close(copy) } }
                for number in 1...3 {
                    try await count(number, in: path) {
                        copies += try Self.copiesOfDescriptors(of: path)
                    }
                }
                #expect(copies.count >= 3)
                let last = try await Workspace.open(at: path)
                #expect(try last.dictionary("counts")["count", as: Int.self] == 3)
                try await last.close()
            }
        }

        /// Of all descriptors of the directory that are there when it begins.
        private static func copiesOfDescriptors(of path: String) throws -> [Int32] {
            var directory = stat()
            try #require(stat(path, &directory) == 0)
            let all = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
            let open = all.compactMap { Int32($0) }.filter { descriptor in
                var status = stat()
                return fstat(descriptor, &status) == 0 && status.st_dev == directory.st_dev
                    && status.st_ino == directory.st_ino
            }
            return open.map { fcntl($0, F_DUPFD_CLOEXEC, 0) }
        }
    #endif
}
