import Roost
import RoostEngine
import RoostIO
import RoostSealing
import RoostSimulation
import RoostTestSupport
import Synchronization
import Testing

/// What is read of sealed snapshots is kept open in memory, as far as a limit.
@Suite(.timeLimit(.minutes(5))) struct SealedMemoryTests {
    private func fill(_ dictionary: WorkspaceDictionary, count: Int) async throws {
        for begin in stride(from: 0, to: count, by: 1_000) {
            // Nothing in them that compression makes smaller.
            try await dictionary.setAll(
                (begin..<begin + 1_000).map { number in
                    var random = SimulationRandom(seed: UInt64(number))
                    return ("k\(number)", (0..<16).map { _ in random.next() as UInt64 })
                })
        }
    }

    @Test func aStoreThatIsLargerThanTheLimitIsReadWithinIt() async throws {
        let limit = 1 << 20
        let fileSystem = SealedFileSystem(
            MemoryFileSystem(), SimulatedSealing(), openLimitBytes: limit)
        let workspace = try await Workspace.open(
            at: "(sealed)", configuration: .init(memoryBudgetBytes: 0), fileSystem: fileSystem)
        let dictionary = workspace.dictionary("d")
        let count = 20_000
        try await fill(dictionary, count: count)
        try await workspace.compact()
        var most = 0
        var released = false
        for round in 0..<6 {
            for number in stride(from: round, to: count, by: 7) {
                #expect(try dictionary.value(forKey: "k\(number)", as: [UInt64].self)?.count == 16)
                let size = fileSystem.pressure.sizeBytes
                if size < most / 2 { released = true }
                most = max(most, size)
                // The release goes on on a thread of its own; who reads without end gives it time here.
                if size > limit {
                    for _ in 0..<10_000 where fileSystem.pressure.sizeBytes > limit {
                        try await Task.sleep(for: .milliseconds(1))
                    }
                }
            }
        }
        #expect(released, "\(most) bytes were open")
        #expect(most < 4 * limit, "\(most) bytes were open")
        try await workspace.close()
    }

    /// The last chunk of a file is shorter than the others.
    @Test(arguments: [1, 4_096, 10_000]) func whatNobodyHasOpenTakesNothing(sizeBytes: Int) throws {
        let fileSystem = SealedFileSystem(MemoryFileSystem(), SimulatedSealing())
        let directory = try fileSystem.openDirectory(at: "(sealed)", create: true)
        try directory.lock(exclusive: true, patience: .zero)
        let file = try directory.createFile("file")
        try [UInt8](repeating: 1, count: sizeBytes).withUnsafeBytes { try file.write($0, at: 0) }
        try file.syncData()
        for _ in 0..<3 {
            guard let region = try file.map(sizeBytes: sizeBytes, writable: false) else {
                Issue.record("a sealed file of this kind can be mapped")
                break
            }
            try region.require(offset: 0, count: sizeBytes)
            #expect(fileSystem.pressure.sizeBytes == sizeBytes)
            withExtendedLifetime(region) {}
        }
        #expect(fileSystem.pressure.sizeBytes == 0)
        try directory.unlock()
    }

    /// The story: each of many who walked through a store and paused had all of a snapshot in memory for himself.
    @Test func fewHaveAFileOpenForThemselves() throws {
        let fileSystem = SealedFileSystem(
            MemoryFileSystem(), SimulatedSealing(), openLimitBytes: 1)
        let directory = try fileSystem.openDirectory(at: "(sealed)", create: true)
        try directory.lock(exclusive: true, patience: .zero)
        let file = try directory.createFile("file")
        try [UInt8](repeating: 1, count: 10_000).withUnsafeBytes { try file.write($0, at: 0) }
        try file.syncData()
        let mapped = try file.map(sizeBytes: 10_000, writable: false)
        let region = try #require(mapped)
        var regions: [MappedRegion] = []
        while regions.count < 100, let own = try region.apart(always: false) {
            regions.append(own)
        }
        #expect(regions.count == 16)
        // Who holds all files of a store until the end must have one.
        let needed = try region.apart(always: true)
        #expect(needed != nil)
        regions = []
        let next = try region.apart(always: false)
        #expect(next != nil)
        try directory.unlock()
    }

    /// A view, a verification, a backup and a salvage hold all snapshots until they end.
    @Test func whoWalksThroughAllOfAStoreHoldsNoMoreThanTheLimit() async throws {
        try await withTemporaryDirectory { path in
            let limit = 256 << 10
            let fileSystem = SealedFileSystem(
                PosixFileSystem(), SimulatedSealing(), openLimitBytes: limit)
            let workspace = try await Workspace.open(
                at: "\(path)/store", configuration: .init(memoryBudgetBytes: 0),
                fileSystem: fileSystem
            ) { $0.snapshotSizeBytes = 64 << 10 }
            let dictionary = workspace.dictionary("d")
            let count = 10_000
            try await fill(dictionary, count: count)
            try await workspace.compact()
            #expect(workspace.statistics.snapshotSizeBytes > 4 * UInt64(limit))
            let most = Mutex(0)
            let look: @Sendable () -> Void = {
                most.withLock { $0 = max($0, fileSystem.pressure.sizeBytes) }
            }
            for order in [ScanOrder.ascending, .descending] {
                let view = try workspace.readView()
                var passed = 0
                try view.forEachEntry(of: dictionary, as: [UInt64].self, order: order) {
                    passed += $1.count == 16 ? 1 : 0
                    look()
                }
                view.close()
                #expect(passed == count)
            }
            #expect(most.withLock { $0 } <= 3 * limit, "of a scan")
            let report = try await workspace.verify { _ in look() }
            #expect(report.isSound, "\(report.damages)")
            #expect(most.withLock { $0 } <= 3 * limit, "of a verification")
            try await workspace.backup(to: "\(path)/copy") { _, _ in look() }
            #expect(most.withLock { $0 } <= 3 * limit, "of a backup")
            try await workspace.close()
            let other = SealedFileSystem(PosixFileSystem(), SimulatedSealing())
            var salvage = try Salvage(path: "\(path)/store", fileSystem: other)
            var salvagedCount = 0
            for recordKey in salvage.recordKeys {
                let value = try salvage.value(of: recordKey, after: nil, before: nil)
                salvagedCount += value == nil ? 0 : 1
            }
            #expect(salvagedCount >= count)
            #expect(other.pressure.sizeBytes <= limit, "of a salvage")
        }
    }
}
