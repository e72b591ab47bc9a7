import Foundation
import Roost
import RoostIO
import RoostSealing
import RoostSimulation
import RoostTestSupport
import Synchronization
import Testing

/// An encrypted log is stored through mapped memory where a plain one is, and each piece is in the file or refused.
@Suite(.timeLimit(.minutes(5))) struct SealedMappingTests {
    private let calls = LogWrites()

    private func open(
        _ path: String, suite: any SealingSuite = SimulatedSealing(),
        isEncrypted: Bool = true, durability: Durability = .process
    ) async throws -> Workspace {
        let base = ObservedFileSystem { [calls] in try calls.note($0) }
        return try await Workspace.open(
            at: path, configuration: .init(durability: durability, memoryBudgetBytes: 0),
            fileSystem: isEncrypted ? SealedFileSystem(base, suite) : base)
    }

    /// How many calls a thousand puts make that write to the log.
    private func callsOfPuts(_ path: String, isEncrypted: Bool) async throws -> Int {
        let workspace = try await open(path, isEncrypted: isEncrypted)
        let values = workspace.dictionary("values")
        try await values.set(0, forKey: "first")
        let before = calls.count
        for number in 0..<1000 { try await values.set(number, forKey: "\(number)") }
        let made = calls.count - before
        try await workspace.close()
        return made
    }

    @Test func aPutMakesNoCallWhereAPlainOneMakesNone() async throws {
        try await withTemporaryDirectory { path in
            let plain = try await callsOfPuts("\(path)/plain", isEncrypted: false)
            let sealed = try await callsOfPuts("\(path)/sealed", isEncrypted: true)
            #expect(sealed == plain, "a file system that maps files: \(plain == 0)")
            let again = try await open("\(path)/sealed")
            #expect(again.recovery.tornTails.isEmpty)
            #expect(try again.dictionary("values").count == 1001)
            #expect(try again.dictionary("values")["999", as: Int.self] == 999)
            try await again.close()
        }
    }

    @Test func aPieceInAPageThatIsNotThereIsWrittenByACall() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await open("\(path)/store")
            let values = workspace.dictionary("values")
            try await values.set("first", forKey: "first")
            let name = try #require(try fileNames(in: "\(path)/store", prefix: "log").last)
            // What is preallocated goes; the next page that is stored to is not there.
            try #require(truncate("\(path)/store/\(name)", 4096) == 0)
            for number in 0..<200 {
                try await values.set(String(repeating: "x", count: 500), forKey: "\(number)")
            }
            try await workspace.synchronize()
            #expect(try values.value(forKey: "first", as: String.self) == "first")
            try copyDirectory("\(path)/store", to: "\(path)/copy")
            let again = try await open("\(path)/copy")
            // It says that the file was cut, and has all the same.
            #expect(again.recovery.tornTails.allSatisfy { $0.sizeBytes == 0 })
            #expect(try again.dictionary("values").count == 201)
            try await again.close()
            try await workspace.close()
        }
    }

    @Test func aLogThatWasCutBeforeItsEndTakesNothingMore() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await open("\(path)/store")
            let values = workspace.dictionary("values")
            for number in 0..<200 {
                try await values.set(String(repeating: "x", count: 500), forKey: "\(number)")
            }
            let name = try #require(try fileNames(in: "\(path)/store", prefix: "log").last)
            let file = "\(path)/store/\(name)"
            let kept = 8 * 4096
            try #require(truncate(file, off_t(kept)) == 0)
            for number in 0..<3 {
                await #expect(throws: RoostError.self) {
                    try await values.set("more", forKey: "more \(number)")
                }
                #expect(try values["more \(number)", as: String.self] == nil)
            }
            do { try await workspace.close() } catch is RoostError {}
            let size = try readBytes(file).count
            #expect(size == kept, "zeros stand where there were pieces")
        }
    }

    @Test func aSnapshotThatIsCutWhileItIsOpenIsAnErrorAndNoOtherValue() async throws {
        try await withTemporaryDirectory { path in
            let store = "\(path)/store"
            let expected = (0..<3000).map { number in
                var random = SimulationRandom(seed: UInt64(number))
                return (0..<16).map { _ in random.next() as UInt64 }
            }
            var workspace = try await open(store)
            try await workspace.dictionary("values").setAll(
                expected.enumerated().map { ("\($0)", $1) })
            try await workspace.compact()
            try await workspace.close()
            workspace = try await open(store)
            let values = workspace.dictionary("values")
            #expect(try values["0", as: [UInt64].self] == expected[0])
            for name in try fileNames(in: store, prefix: "snapshot") {
                let size = try readBytes("\(store)/\(name)").count
                let kept = off_t(size / 2 / 4096 * 4096)
                try #require(truncate("\(store)/\(name)", kept) == 0)
            }
            var errorCount = 0
            for number in 1..<3000 {
                do {
                    #expect(try values["\(number)", as: [UInt64].self] == expected[number])
                } catch let error as RoostError {
                    #expect(error.code == .io, "\(error)")
                    #expect(error.file != nil && error.offset != nil)
                    errorCount += 1
                }
            }
            #expect(errorCount > 100 && errorCount < 2999)
            do { try await workspace.close() } catch is RoostError {}
        }
    }

    /// As on a file system that finds another place for each block that changes.
    @Test func aFullDiskRefusesAPutAndNotTheLog() async throws {
        try await withTemporaryDirectory { path in
            let isFull = Atomic(false)
            let base = ObservedFileSystem(PosixFileSystem(allowsMapping: false)) { call in
                guard case .write(let name) = call, isFull.load(ordering: .relaxed) else { return }
                throw RoostError(.outOfSpace, "the test says so", file: name)
            }
            let fileSystem = SealedFileSystem(base, SimulatedSealing())
            let configuration = Workspace.Configuration(durability: .process)
            var workspace = try await Workspace.open(
                at: path, configuration: configuration, fileSystem: fileSystem)
            for round in 0..<3 {
                let values = workspace.dictionary("values")
                for number in 0..<50 { try await values.set(round, forKey: "\(number)") }
                isFull.store(true, ordering: .relaxed)
                for _ in 0..<5 {
                    await #expect {
                        try await values.set("refused", forKey: "refused")
                    } throws: { ($0 as? RoostError)?.code == .outOfSpace }
                }
                isFull.store(false, ordering: .relaxed)
                for number in 50..<100 { try await values.set(round, forKey: "\(number)") }
                try await workspace.close()
                workspace = try await Workspace.open(
                    at: path, configuration: configuration, fileSystem: fileSystem)
                let again = workspace.dictionary("values")
                #expect(try again.count == 100)
                for number in 0..<100 {
                    #expect(try again["\(number)", as: Int.self] == round)
                }
            }
            try await workspace.close()
        }
    }

    /// In the page of the end a store reaches no file, and nothing says so.
    @Test func whatIsWrittenAfterACutIsInTheFile() async throws {
        try await withTemporaryDirectory { path in
            let fileSystem = SealedFileSystem(PosixFileSystem(), SimulatedSealing())
            let directory = try fileSystem.openDirectory(at: path, create: true)
            try directory.lock(exclusive: true)
            let file = try directory.createFile("log-1")
            try file.preallocate(sizeBytes: 64 << 10)
            for number in 0..<4 {
                let bytes = [UInt8](repeating: UInt8(number + 1), count: 100)
                try bytes.withUnsafeBytes { try file.write($0, at: UInt64(100 * number)) }
                if number == 2 { try file.truncate(to: 300) }
            }
            let again = try directory.openFile("log-1", writable: false)
            let content = try again.read(count: 400, at: 0)
            let written: [UInt8] = (0..<400).map { UInt8($0 / 100 + 1) }
            #expect(content == written)
            try directory.unlock()
        }
    }

    /// With a page that is not there, before the log's end and after it, and calls that fail then.
    @Test(arguments: [4, 40])
    func noNonceSealsTwoContentsWhateverFails(keptPageCount: Int) async throws {
        try await withTemporaryDirectory { path in
            let store = "\(path)/store"
            let suite = RecordedSealing()
            let workspace = try await open(store, suite: suite)
            let values = workspace.dictionary("values")
            var failureCount = 0
            for number in 0..<600 {
                if number == 100 {
                    let name = try #require(try fileNames(in: store, prefix: "log").last)
                    try #require(truncate("\(store)/\(name)", off_t(keptPageCount * 4096)) == 0)
                    calls.failures = 3
                }
                do {
                    try await values.set(
                        String(repeating: "\(number)", count: 100), forKey: "\(number)")
                } catch is RoostError { failureCount += 1 }
            }
            calls.failures = 0
            do { try await workspace.close() } catch is RoostError {}
            #expect(failureCount > 0)
            let (count, repeatedCount) = suite.counts
            #expect(count > 100)
            #expect(repeatedCount == 0)
        }
    }
}

/// The calls that write to log segments.
private final class LogWrites: Sendable {
    private let state = Mutex((count: 0, failures: 0))

    var count: Int { state.withLock { $0.count } }
    /// So many of the next fail.
    var failures: Int {
        get { state.withLock { $0.failures } }
        set { state.withLock { $0.failures = newValue } }
    }

    func note(_ call: FileCall) throws {
        guard case .write(let name) = call, name.hasPrefix("log") else { return }
        let fails = state.withLock { state in
            state.count += 1
            defer { state.failures = max(0, state.failures - 1) }
            return state.failures > 0
        }
        if fails { throw RoostError(.io, "the test let this call fail", file: name) }
    }
}

/// The simulation's sealing, which keeps what was sealed under which key and nonce.
private final class RecordedSealing: SealingSuite {
    private struct Nonce: Hashable {
        var key: [UInt8]
        var position: UInt64
        var role: UInt32
    }

    private let base = SimulatedSealing()
    private let sealed = Mutex((contents: [Nonce: [UInt8]](), repeatedCount: 0))

    var counts: (sealed: Int, repeated: Int) {
        sealed.withLock { ($0.contents.count, $0.repeatedCount) }
    }

    func newDerivation() -> [UInt8] { base.newDerivation() }
    func ringKey(_ derivation: [UInt8]) throws -> [UInt8] { try base.ringKey(derivation) }

    func sealer(dataKey: [UInt8], salt: [UInt8], purpose: String) -> Sealer {
        let sealer = base.sealer(dataKey: dataKey, salt: salt, purpose: purpose)
        return Sealer(
            cipher: Cipher(
                base: sealer.cipher, key: dataKey + salt + Array(purpose.utf8), record: self),
            mask: sealer.mask)
    }

    private struct Cipher: SealingCipher {
        let base: any SealingCipher
        let key: [UInt8]
        let record: RecordedSealing

        func seal(
            _ plain: UnsafeRawBufferPointer, _ nonce: SealingNonce,
            authenticating context: UnsafeRawBufferPointer,
            into target: UnsafeMutableRawBufferPointer
        ) throws {
            let used = Nonce(key: key, position: nonce.position, role: nonce.role)
            let content = Array(plain) + Array(context)
            record.sealed.withLock { state in
                if let other = state.contents.updateValue(content, forKey: used), other != content {
                    state.repeatedCount += 1
                }
            }
            try base.seal(plain, nonce, authenticating: context, into: target)
        }

        func open(
            _ sealed: UnsafeRawBufferPointer, _ nonce: SealingNonce,
            authenticating context: UnsafeRawBufferPointer,
            into target: UnsafeMutableRawBufferPointer
        ) throws -> Bool {
            try base.open(sealed, nonce, authenticating: context, into: target)
        }
    }
}
