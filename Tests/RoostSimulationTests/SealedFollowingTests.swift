import Roost
import RoostIO
import RoostSealing
import RoostSimulation
import RoostTestSupport
import Synchronization
import Testing

/// A reader beside the writer of an encrypted workspace, on the real file system.
@Suite(.timeLimit(.minutes(10))) struct SealedFollowingTests {
    private let readOnly = Workspace.Configuration(access: .readOnly)

    private func open(
        _ path: String, secret: UInt64 = 1, _ configuration: Workspace.Configuration = .init()
    ) async throws -> Workspace {
        try await Workspace.open(
            at: path, configuration: configuration,
            fileSystem: SealedFileSystem(PosixFileSystem(), SimulatedSealing(secret: secret)))
    }

    private func encryption(_ secret: UInt64) -> WorkspaceEncryption {
        WorkspaceEncryption(SimulatedSealing(secret: secret))
    }

    @Test func aReaderSeesWhatIsThereAndWhatComes() async throws {
        try await withTemporaryDirectory { path in
            let writer = try await open(path)
            let written = writer.dictionary("values")
            try await written.set(1, forKey: "before")
            let reader = try await open(path, readOnly)
            let read = reader.dictionary("values")
            #expect(try read["before", as: Int.self] == 1)
            for number in 0..<1000 { try await written.set(number, forKey: "key-\(number % 100)") }
            // Longer than what is read at a time.
            let long = [UInt8](repeating: 7, count: 3 << 20)
            try await written.set(long, forKey: "long")
            try await written.removeValue(forKey: "before")
            try await reader.catchUp()
            #expect(try read["before", as: Int.self] == nil)
            #expect(try read["long", as: [UInt8].self] == long)
            #expect(try read.count == 101)
            let status = try #require(reader.following)
            #expect(status.sequence == writer.statistics.lastSequence)
            #expect(status.isWriterOpen)
            // Without being asked.
            for number in 1...20 {
                try await written.set(number, forKey: "a")
                while try read["a", as: Int.self] != number { await Task.yield() }
            }
            try await reader.close()
            try await writer.close()
        }
    }

    @Test func noBatchIsSeenByHalfWhileKeysChangeAndFilesGo() async throws {
        try await withTemporaryDirectory { path in
            let writer = try await open(path, .init(durability: .process))
            let written = writer.dictionary("pairs")
            let reader = try await open(path, readOnly)
            let read = reader.dictionary("pairs")
            let writing = Task {
                for number in 1...3000 {
                    try await writer.write { batch in
                        for key in 0..<8 { batch.set(number, forKey: "key-\(key)", in: written) }
                    }
                    if number % 500 == 0 { try await writer.compact() }
                    if number % 700 == 0 { try await writer.rotateKey(to: encryption(1)) }
                }
            }
            var newest = 0
            while newest < 3000 {
                let numbers = try reader.read { view in
                    try (0..<8).map {
                        try view.value(forKey: "key-\($0)", as: Int.self, in: read) ?? 0
                    }
                }
                #expect(Set(numbers).count == 1, "\(numbers)")
                #expect(numbers[0] >= newest)
                newest = numbers[0]
                let first = try read["key-0", as: Int.self] ?? 0
                #expect(try read["key-7", as: Int.self] ?? 0 >= first)
                await Task.yield()
            }
            try await writing.value
            #expect(try await reader.verify().isSound)
            try await reader.close()
            try await writer.close()
        }
    }

    @Test func aReaderOutlivesItsWriterAndFollowsTheNext() async throws {
        try await withTemporaryDirectory { path in
            var writer = try await open(path)
            let reader = try await open(path, readOnly)
            let read = reader.dictionary("values")
            for number in 0..<10 {
                try await writer.dictionary("values").set(number, forKey: "a")
                try await writer.close()
                try await reader.catchUp()
                #expect(try read["a", as: Int.self] == number)
                #expect(reader.following?.isWriterOpen == false)
                writer = try await open(path)
            }
            try await writer.close()
            try await reader.close()
        }
    }

    @Test func aReaderMakesBackupsBesideTheWriterAndWithoutOne() async throws {
        try await withTemporaryDirectory { path in
            var writer = try await open("\(path)/workspace")
            for number in 0..<3 {
                try await writer.dictionary("values").set(number, forKey: "key-\(number)")
                // Each opening leaves a segment with its end.
                try await writer.close()
                writer = try await open("\(path)/workspace")
            }
            try await writer.dictionary("values").set(3, forKey: "key-3")
            let reader = try await open("\(path)/workspace", readOnly)
            try await reader.backup(to: "\(path)/beside")
            try await reader.close()
            try await writer.close()
            let alone = try await open("\(path)/workspace", readOnly)
            try await alone.backup(to: "\(path)/without")
            try await alone.close()
            for name in ["beside", "without"] {
                let restored = try await open("\(path)/\(name)")
                for number in 0...3 {
                    let value = try restored.dictionary("values")["key-\(number)", as: Int.self]
                    #expect(value == number, "\(name)")
                }
                try await restored.close()
            }
        }
    }

    @Test func aBackupByAReaderIsReadAndBackedUpByAnother() async throws {
        try await withTemporaryDirectory { path in
            // More than a copy writes at once.
            let writer = try await open("\(path)/workspace")
            let long = String(repeating: "long", count: 100_000)
            for number in 0..<6 {
                try await writer.dictionary("values").set(long, forKey: "long-\(number)")
            }
            try await writer.close()
            // Another segment, so that the first has its end.
            let second = try await open("\(path)/workspace")
            try await second.dictionary("values").set(7, forKey: "short")
            try await second.close()
            for (source, target) in [("workspace", "copy"), ("copy", "copy of the copy")] {
                let reader = try await open("\(path)/\(source)", readOnly)
                try await reader.backup(to: "\(path)/\(target)")
                try await reader.close()
                let copied = try await open("\(path)/\(target)", readOnly)
                let values = copied.dictionary("values")
                for number in 0..<6 {
                    #expect(try values["long-\(number)", as: String.self] == long, "\(target)")
                }
                #expect(try values["short", as: Int.self] == 7, "\(target)")
                try await copied.close()
            }
            let restored = try await open("\(path)/copy of the copy")
            #expect(try restored.dictionary("values").count == 7)
            try await restored.close()
        }
    }

    @Test func aReaderWithoutTheNewKeyIsToldSo() async throws {
        try await withTemporaryDirectory { path in
            let writer = try await open(path)
            let written = writer.dictionary("values")
            let reader = try await open(path, readOnly)
            let read = reader.dictionary("values")
            try await written.set(1, forKey: "a")
            try await reader.catchUp()
            try await writer.rotateKey(to: encryption(2))
            // What comes from here on is under a key that the reader does not have.
            #expect(try read["a", as: Int.self] == 1)
            try await written.set(2, forKey: "a")
            let error = await #expect(throws: RoostError.self) {
                while true { try await reader.catchUp() }
            }
            #expect(error?.code == .wrongKey)
            #expect { _ = try read["a", as: Int.self] } throws: {
                ($0 as? RoostError)?.code == .wrongKey
            }
            try await reader.close()
            let late = await #expect(throws: RoostError.self) { try await open(path, readOnly) }
            #expect(late?.code == .wrongKey)
            let another = try await open(path, secret: 2, readOnly)
            #expect(try another.dictionary("values")["a", as: Int.self] == 2)
            try await another.close()
            try await writer.close()
        }
    }

    /// Asks anew for its key, as one from a keychain does.
    private final class Keychain: SealingSuite {
        let secret = Mutex<UInt64>(1)
        private var suite: SimulatedSealing { SimulatedSealing(secret: secret.withLock { $0 }) }

        func newDerivation() -> [UInt8] { suite.newDerivation() }
        func ringKey(_ derivation: [UInt8]) throws -> [UInt8] { try suite.ringKey(derivation) }
        func sealer(dataKey: [UInt8], salt: [UInt8], purpose: String) -> Sealer {
            suite.sealer(dataKey: dataKey, salt: salt, purpose: purpose)
        }
    }

    @Test func aReaderThatAsksForItsKeyGoesOnUnderTheNewOne() async throws {
        try await withTemporaryDirectory { path in
            let writer = try await open(path)
            let written = writer.dictionary("values")
            let keychain = Keychain()
            let reader = try await Workspace.open(
                at: path, configuration: readOnly,
                fileSystem: SealedFileSystem(PosixFileSystem(), keychain))
            for secret in UInt64(2)...6 {
                keychain.secret.withLock { $0 = secret }
                try await writer.rotateKey(to: encryption(secret))
                try await written.set(secret, forKey: "a")
                if secret == 4 { try await writer.compact() }
                try await reader.catchUp()
                #expect(try reader.dictionary("values")["a", as: UInt64.self] == secret)
            }
            try await reader.close()
            try await writer.close()
        }
    }

    @Test func eachPieceIsReadOnce() async throws {
        try await withTemporaryDirectory { path in
            let writer = try await open(path, .init(durability: .process))
            let written = writer.dictionary("values")
            let value = [UInt8](repeating: 1, count: 200)
            for number in 0..<10_000 { try await written.set(value, forKey: "key-\(number % 50)") }
            let readCount = Atomic(0)
            let observed = ObservedFileSystem { _ in }.onRead { name in
                if name.hasPrefix("log-") { readCount.wrappingAdd(1, ordering: .relaxed) }
            }
            let reader = try await Workspace.open(
                at: path, configuration: readOnly,
                fileSystem: SealedFileSystem(observed, SimulatedSealing()))
            // Three megabytes, a quarter of one at a time.
            let opening = readCount.load(ordering: .relaxed)
            #expect(opening < 200, "\(opening) reads for 10,000 pieces")
            try await reader.close()
            try await writer.close()
        }
    }

    // MARK: One segment

    private struct Segment {
        /// Of the file.
        let bytes: [UInt8]
        /// What they say.
        let content: [UInt8]
    }

    /// A segment as several openings under several keys leave it. Where it is not mapped a write that failed leaves a
    /// hole in it.
    private func segment(
        in path: String, isMapped: Bool, _ random: inout SimulationRandom
    ) throws -> Segment {
        let failsNext = Atomic(false)
        let base = PosixFileSystem(allowsMapping: isMapped)
        let observed = ObservedFileSystem(base) { call in
            guard case .write = call, failsNext.exchange(false, ordering: .relaxed) else { return }
            throw RoostError(.io, "this was planned")
        }
        let fileSystem = SealedFileSystem(observed, SimulatedSealing())
        let directory = try fileSystem.openDirectory(at: path, create: true)
        try directory.lock(exclusive: true)
        var file = try directory.createFile("log-1")
        try file.preallocate(sizeBytes: 64 << 10)
        let failing = isMapped ? .max : random.below(40)
        var content: [UInt8] = []
        for step in 0..<40 {
            if random.once(in: 8) { try fileSystem.rotate(to: SimulatedSealing()) }
            if random.once(in: 12) { file = try directory.openFile("log-1", writable: true) }
            let bytes = (0..<(1 + random.below(900))).map { _ in
                UInt8.random(in: 1...255, using: &random)
            }
            func write() throws {
                try bytes.withUnsafeBytes { try file.write($0, at: UInt64(content.count)) }
            }
            if step == failing {
                failsNext.store(true, ordering: .relaxed)
                #expect(throws: RoostError.self) { try write() }
            }
            try write()
            content += bytes
        }
        try directory.unlock()
        let raw = try PosixFileSystem().openDirectory(at: path, create: false)
            .openFile("log-1", writable: false)
        return Segment(
            bytes: try raw.read(count: Int(raw.sizeBytes()), at: 0), content: content)
    }

    /// A reader that comes along while the file is written sees the content grow, and nothing else.
    @Test(arguments: 0..<12) func whatIsWrittenIsSeenPieceByPiece(_ number: Int) async throws {
        try await withTemporaryDirectory { path in
            var random = SimulationRandom(seed: 7_000 + UInt64(number))
            let segment = try segment(in: path, isMapped: number % 2 == 1, &random)
            let raw = try PosixFileSystem().openDirectory(at: path, create: false)
                .openFile("log-1", writable: true)
            try raw.truncate(to: 0)
            try raw.truncate(to: UInt64(segment.bytes.count))
            let file = try SealedFileSystem(PosixFileSystem(), SimulatedSealing())
                .openDirectory(at: path, create: false).openFile("log-1", writable: false)
            var seenCount = 0
            var writtenCount = 0
            while true {
                let count = min(segment.bytes.count - writtenCount, 1 + random.below(700))
                try segment.bytes[writtenCount..<(writtenCount + count)].withUnsafeBytes {
                    try raw.write($0, at: UInt64(writtenCount))
                }
                writtenCount += count
                var buffer = [UInt8](repeating: 0, count: 1 + random.below(5000))
                let found = try buffer.withUnsafeMutableBytes {
                    try file.readUp(to: $0, at: UInt64(seenCount))
                }
                let new = buffer[..<found].prefix { $0 != 0 }
                #expect(buffer[new.count..<found].allSatisfy { $0 == 0 }, "seed \(number)")
                #expect(
                    Array(new) == Array(segment.content[seenCount...].prefix(new.count)),
                    "seed \(number)")
                seenCount += new.count
                if writtenCount == segment.bytes.count, new.isEmpty { break }
            }
            #expect(seenCount == segment.content.count, "seed \(number)")
        }
    }

    /// The story: who had come to a segment's end asked how far it was written. For that all of it was read, and kept as it was
    /// then: what its writer did to it later was never seen.
    @Test func whoAsksHowFarAFileIsWrittenReadsOn() throws {
        let directory = try SealedFileSystem(MemoryFileSystem(), SimulatedSealing())
            .openDirectory(at: "(sealed)", create: true)
        try directory.lock(exclusive: true, patience: .zero)
        let written = try directory.createFile("log-1")
        let read = try directory.openFile("log-1", writable: false)
        for end in [100, 200, 300] {
            try [UInt8](repeating: 1, count: 100).withUnsafeBytes {
                try written.write($0, at: UInt64(end - 100))
            }
            var buffer = [UInt8](repeating: 0, count: 1_000)
            let found = try buffer.withUnsafeMutableBytes { try read.readUp(to: $0, at: 0) }
            #expect(found == end)
            let writtenEnd = try read.writtenEnd()
            #expect(writtenEnd == UInt64(end))
        }
        try directory.unlock()
    }
}
