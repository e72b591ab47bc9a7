import Foundation
import Roost
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

/// What a workspace takes on disk while nobody writes to it, with neither `compact` nor `close`.
@Suite(.serialized, .timeLimit(.minutes(10))) struct SpaceAtRestTests {
    private static let keyCount = 20_000
    /// What the values and keys are together.
    private static let liveSizeBytes = keyCount * 110
    /// With the log that may stay, and something for directories and margins.
    private static let limitBytes = liveSizeBytes * 2 + (5 << 20)

    /// In batches, as a slow machine takes long for as many calls.
    private func fill(
        _ workspace: Workspace, generation: Int, keyCount: Int = keyCount
    ) async throws {
        var random = SeededGenerator(seed: UInt64(generation))
        let words = (0..<2_048).map { _ in random.next() }
        let pool = words.withUnsafeBytes { [UInt8]($0) }
        let values = workspace.dictionary("values")
        for begin in stride(from: 0, to: keyCount, by: 500) {
            try await values.setAll(
                (begin..<begin + 500).map { index in
                    let start = index * 37 % (pool.count - 96)
                    return ("key \(index)", [UInt8(generation)] + pool[start..<start + 95])
                })
        }
    }

    private func check(_ workspace: Workspace, generation: Int) throws {
        let values = workspace.dictionary("values")
        #expect(try values.count == Self.keyCount)
        for index in stride(from: 0, to: Self.keyCount, by: 97) {
            let value = try values.value(forKey: "key \(index)", as: [UInt8].self)
            #expect(value?.first == UInt8(generation))
        }
    }

    /// Waits until the files take no more than they may: a slow machine needs its time.
    private func waitUntilSmall(_ path: String) async throws {
        let end = ContinuousClock.now + .seconds(180)
        while try blockBytes(path) > Self.limitBytes, .now < end {
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(try blockBytes(path) <= Self.limitBytes)
    }

    @Test func aWorkspaceAtRestTakesLittleMoreThanItsValues() async throws {
        try await withTemporaryDirectory { path in
            var workspace = try await Workspace.open(at: path)
            try await fill(workspace, generation: 1)
            try await waitUntilSmall(path)
            try check(workspace, generation: 1)
            try await workspace.close()

            workspace = try await Workspace.open(at: path)
            #expect(try blockBytes(path) <= Self.limitBytes)
            try check(workspace, generation: 1)
            for generation in 2...4 { try await fill(workspace, generation: generation) }
            try await waitUntilSmall(path)
            try check(workspace, generation: 4)
            try await workspace.close()

            workspace = try await Workspace.open(at: path)
            try check(workspace, generation: 4)
            try await workspace.close()
        }
    }

    @Test func aWriteNowAndThenHasNothingWrittenAgain() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: path)
            try await fill(workspace, generation: 1)
            try await waitUntilSmall(path)
            let before = workspace.statistics.flushCount
            for index in 0..<5 {
                try await workspace.dictionary("values").set([1, 2, 3], forKey: "key \(index)")
                try await Task.sleep(for: .milliseconds(500))
            }
            // On a slow machine the rest after the fill may come late.
            #expect(workspace.statistics.flushCount <= before + 1)
            try await workspace.close()
        }
    }

    @Test func whatAKillHasLeftInTheLogIsMadeSmallBehindTheFirstWrite() async throws {
        try await withTemporaryDirectory { path in
            let live = try await openNeverAtRest("\(path)/live")
            // More than a log may take at rest.
            for generation in 1...2 { try await fill(live, generation: generation) }
            try copyDirectory("\(path)/live", to: "\(path)/killed")
            try await live.close()
            let killed = try await Workspace.open(at: "\(path)/killed")
            try check(killed, generation: 2)
            // One that is only read changes nothing.
            try await Task.sleep(for: .milliseconds(600))
            #expect(killed.statistics.flushCount == 0)
            try await killed.dictionary("others").set(1, forKey: "first")
            let end = ContinuousClock.now + .seconds(180)
            while killed.statistics.flushCount == 0, .now < end {
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(killed.statistics.flushCount == 1)
            try await waitUntilSmall("\(path)/killed")
            try check(killed, generation: 2)
            try await killed.close()
        }
    }

    @Test func readersGoOnWhileTheLogIsMadeSmall() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: path)
            try await workspace.dictionary("values").set([0], forKey: "first")
            let reader = try await Workspace.open(
                at: path, configuration: .init(access: .readOnly))
            for generation in 1...3 {
                try await fill(workspace, generation: generation)
                try await waitUntilSmall(path)
                try await workspace.dictionary("others").set(generation, forKey: "last")
                let end = ContinuousClock.now + .seconds(180)
                let others = reader.dictionary("others")
                while try others.value(forKey: "last", as: Int.self) != generation, .now < end {
                    try await Task.sleep(for: .milliseconds(5))
                }
                #expect(try others.value(forKey: "last", as: Int.self) == generation)
                let key = "key \(Self.keyCount - 1)"
                let value = try reader.dictionary("values").value(forKey: key, as: [UInt8].self)
                #expect(value?.first == UInt8(generation))
            }
            try await reader.close()
            try await workspace.close()
        }
    }

    /// The story that this looks for: what waits for the writers to rest would keep the directory of a
    /// workspace that nobody has any more.
    @Test func aWorkspaceThatIsDroppedBeforeItsRestGivesItsDirectoryBack() async throws {
        try await withTemporaryDirectory { path in
            for generation in 1...2 {
                var workspace: Workspace? = try await Workspace.open(
                    at: path, configuration: .init(durability: .process),
                    fileSystem: PosixFileSystem()
                ) { $0.restDelay = .seconds(3600) }
                try await fill(workspace!, generation: generation)
                workspace = nil
            }
            let workspace = try await Workspace.open(at: path)
            try check(workspace, generation: 2)
            try await workspace.close()
        }
    }

    /// As on a disk that is busy: what still works on a workspace that nobody has any more may take longer than a thread of
    /// somebody's may wait.
    @Test func anOpeningWaitsForTheSyncOfOneThatWasLetGoOf() async throws {
        try await withTemporaryDirectory { path in
            let slow = SlowSyncs(seconds: 3)
            var workspace: Workspace? = try await Workspace.open(
                at: path, configuration: .init(durability: .process), fileSystem: slow.fileSystem
            ) { configuration in
                configuration.restDelay = .seconds(3600)
                configuration.flushThresholdBytes = 1 << 20
            }
            try await fill(workspace!, generation: 1)
            while !slow.hasBegun { try await Task.sleep(for: .milliseconds(1)) }
            workspace = nil
            let opened = try await Workspace.open(at: path)
            try check(opened, generation: 1)
            try await opened.close()
        }
    }

    /// The same keys over and over are flushed long before the log is as long as it may be; keys that are all
    /// new are not.
    @Test func aLogOfTheSameKeysIsFlushedEarly() async throws {
        try await withTemporaryDirectory { path in
            for isSame in [false, true] {
                let workspace = try await Workspace.open(
                    at: "\(path)/\(isSame)", configuration: .init(durability: .process),
                    fileSystem: PosixFileSystem()
                ) { configuration in
                    configuration.restDelay = .seconds(3600)
                    configuration.smallestFlushBytes = 128 << 10
                }
                for generation in 0..<(isSame ? 20 : 1) {
                    try await fill(
                        workspace, generation: generation, keyCount: isSame ? 1_000 : 20_000)
                }
                await workspace.engine.waitForCompaction()
                #expect((workspace.statistics.flushCount > 0) == isSame)
                try await workspace.close()
            }
        }
    }

    private func openNeverAtRest(_ path: String) async throws -> Workspace {
        try await Workspace.open(
            at: path, configuration: .init(), fileSystem: PosixFileSystem()
        ) { $0.restDelay = .seconds(3600) }
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

/// A disk whose first sync of a snapshot takes its time.
private final class SlowSyncs: Sendable {
    private let begun = Mutex(false)
    private let seconds: UInt32

    init(seconds: UInt32) { self.seconds = seconds }

    var hasBegun: Bool { begun.withLock { $0 } }

    var fileSystem: ObservedFileSystem {
        ObservedFileSystem { [self] call in
            guard case .syncData(let name) = call, name.hasPrefix("snapshot") else { return }
            let isFirst = begun.withLock { begun in
                defer { begun = true }
                return !begun
            }
            if isFirst { sleep(seconds) }
        }
    }
}
