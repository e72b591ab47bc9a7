import Foundation
import Roost
import RoostIO
import RoostSealing
import RoostSimulation
import RoostTestSupport
import Synchronization
import Testing

/// An encrypted workspace opens after two failures in a row, of which the second is met while cleaning up.
@Suite(.timeLimit(.minutes(5))) struct SealedFailuresTests {
    private static let failure = RoostError(.io, "the test let this call fail")

    /// A slow machine may pause for so long that the log would be flushed.
    private func open(
        _ path: String, _ hook: @escaping ObservedFileSystem.Hook = { _ in }
    ) async throws -> Workspace {
        try await Workspace.open(
            at: path, configuration: .init(durability: .process),
            fileSystem: SealedFileSystem(ObservedFileSystem(hook: hook), SimulatedSealing())
        ) { $0.restDelay = .seconds(3600) }
    }

    @Test func noManifestIsMadeBeforeTheNameOfTheKeysIsOnDisk() async throws {
        try await withTemporaryDirectory { path in
            for _ in 0..<2 {
                await #expect(throws: RoostError.self) {
                    try await open("\(path)/store") { call in
                        if call == .syncDirectory { throw Self.failure }
                    }
                }
            }
            #expect(try fileNames(in: "\(path)/store", prefix: "KEYS").count == 1)
            #expect(try fileNames(in: "\(path)/store", prefix: "MANIFEST").isEmpty)
            let workspace = try await open("\(path)/store")
            try await workspace.close()
        }
    }

    @Test func aSegmentWithHalfAHeaderThatCannotBeRemovedIsPassedOver() async throws {
        try await withTemporaryDirectory { path in
            let store = "\(path)/store"
            let broken = Mutex<String?>(nil)
            let workspace = try await open(store) { call in
                switch call {
                case .write(let name) where name.hasPrefix("log") && !name.hasSuffix("01"):
                    let isFirst = broken.withLock { broken in
                        defer { broken = broken ?? name }
                        return broken == nil
                    }
                    guard isFirst else { return }
                    // As much as a disk may have taken of it.
                    let file = try FileHandle(
                        forWritingTo: URL(fileURLWithPath: "\(store)/\(name)"))
                    try file.write(contentsOf: Data(repeating: 7, count: 40))
                    try file.close()
                    throw Self.failure
                case .remove(let name) where name == broken.withLock({ $0 }): throw Self.failure
                default: return
                }
            }
            let values = workspace.dictionary("values")
            let value = [UInt8](repeating: 1, count: 10_000)
            for number in 0..<400 {
                // The one that meets the failure may be refused.
                do { try await values.set(value, forKey: "\(number)") } catch {
                    try await values.set(value, forKey: "\(number)")
                }
            }
            let name = try #require(broken.withLock { $0 })
            #expect(try fileNames(in: store, prefix: name).count == 1)
            try copyDirectory(store, to: "\(path)/killed")
            try await workspace.close()
            for left in [store, "\(path)/killed"] {
                let again = try await open(left)
                #expect(try again.dictionary("values").count == 400)
                try await again.close()
            }
        }
    }

    @Test func whatIsWrittenUnderAnotherKeyAfterAFullDiskIsRead() async throws {
        try await withTemporaryDirectory { path in
            // The header of the new key's part still finds room.
            let roomCount = Atomic(Int.max)
            let base = ObservedFileSystem(PosixFileSystem(allowsMapping: false)) { call in
                guard case .write = call,
                    roomCount.subtract(1, ordering: .relaxed).newValue < 0
                else { return }
                throw RoostError(.outOfSpace, "the test says so")
            }
            let fileSystem = SealedFileSystem(base, SimulatedSealing())
            let directory = try fileSystem.openDirectory(at: path, create: true)
            try directory.lock(exclusive: true)
            let file = try directory.createFile("log-1")
            try file.preallocate(sizeBytes: 64 << 10)
            let bytes = (0..<2).map { [UInt8](repeating: UInt8($0 + 1), count: 100) }
            try bytes[0].withUnsafeBytes { try file.write($0, at: 0) }
            try fileSystem.rotate(to: SimulatedSealing())
            roomCount.store(1, ordering: .relaxed)
            #expect(throws: RoostError.self) {
                try bytes[1].withUnsafeBytes { try file.write($0, at: 100) }
            }
            try file.truncate(to: 100)
            roomCount.store(.max, ordering: .relaxed)
            try bytes[1].withUnsafeBytes { try file.write($0, at: 100) }
            let again = try directory.openFile("log-1", writable: false)
            #expect(try again.read(count: 200, at: 0) == bytes.flatMap { $0 })
            try directory.unlock()
        }
    }

    /// It was written once for each 4 MiB of its content: a log of a gibibyte 256 times.
    @Test func aLogThatMayNotBeOnDiskIsWrittenAgainOnce() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await open("\(path)/store")
            let values = workspace.dictionary("values")
            for number in 0..<40 {
                try await values.set(
                    [UInt8](repeating: UInt8(number), count: 1 << 19), forKey: "\(number)")
            }
            try copyDirectory("\(path)/store", to: "\(path)/killed")
            try await workspace.close()
            let logs = try fileNames(in: "\(path)/killed", prefix: "log")
            let writeCounts = Mutex<[String: Int]>([:])
            let killed = try await open("\(path)/killed") { call in
                if case .write(let name) = call, logs.contains(name) {
                    writeCounts.withLock { $0[name, default: 0] += 1 }
                }
            }
            try await killed.synchronize()
            #expect(try killed.dictionary("values").count == 40)
            let counts = writeCounts.withLock { $0 }
            #expect(counts.values.reduce(0, +) >= 20)
            for (name, count) in counts {
                // A mebibyte each, and a header.
                let size = try readBytes("\(path)/killed/\(name)").count
                #expect(count <= size >> 20 + 2, "\(name) of \(size) bytes: \(count) writes")
            }
            try await killed.close()
        }
    }

    /// A cipher that cannot be had, as where no provider is loaded, was taken for bytes that somebody had changed: a hole in
    /// the log, which the opening then cut off.
    @Test func whatCouldNotBeOpenedIsNotCalledDamaged() async throws {
        try await withTemporaryDirectory { path in
            let store = "\(path)/store"
            let workspace = try await open(store)
            let values = workspace.dictionary("values")
            for number in 0..<50 { try await values.set(number, forKey: "\(number)") }
            try copyDirectory(store, to: "\(path)/copy")
            try await workspace.close()
            let before = try contents(ofDirectory: "\(path)/copy")
            for failing in 1...12 {
                let suite = FailingSealing(failAt: failing)
                let fileSystem = SealedFileSystem(PosixFileSystem(), suite)
                let error = await #expect(throws: RoostError.self) {
                    try await Workspace.open(
                        at: "\(path)/copy", configuration: .init(), fileSystem: fileSystem)
                }
                #expect(error?.code == .io, "opening \(failing): \(String(describing: error))")
                let after = try contents(ofDirectory: "\(path)/copy")
                for (name, bytes) in before where name.hasPrefix("log") {
                    #expect(after[name] == bytes, "\(name) was changed")
                }
            }
            let again = try await open("\(path)/copy")
            #expect(try again.dictionary("values").count == 50)
            try await again.close()
        }
    }

    @Test func afterAFailedEndASealedFileIsNeverSaidToBeOnDisk() async throws {
        try await withTemporaryDirectory { path in
            let isFailing = Atomic(false)
            let base = ObservedFileSystem { call in
                if case .write = call, isFailing.load(ordering: .relaxed) { throw Self.failure }
            }
            let fileSystem = SealedFileSystem(base, SimulatedSealing())
            // Makes the keys.
            let workspace = try await Workspace.open(
                at: "\(path)/store", configuration: .init(), fileSystem: fileSystem)
            try await workspace.close()
            let directory = try fileSystem.openDirectory(at: "\(path)/store", create: false)
            let file = try directory.createFile("snapshot-000000000077.new")
            isFailing.store(true, ordering: .relaxed)
            #expect(throws: RoostError.self) { try file.syncData() }
            isFailing.store(false, ordering: .relaxed)
            #expect(throws: RoostError.self) { try file.syncData() }
            isFailing.store(true, ordering: .relaxed)
            #expect(throws: RoostError.self) {
                try directory.createFile("snapshot-000000000078.new")
            }
            #expect(try fileNames(in: "\(path)/store", prefix: "snapshot-000000000078").isEmpty)
        }
    }
}

/// Ciphers of which one look cannot be made.
private final class FailingSealing: SealingSuite {
    private let base = SimulatedSealing()
    private let failing: Int
    private let count = Atomic(0)

    init(failAt failing: Int) { self.failing = failing }

    func newDerivation() -> [UInt8] { base.newDerivation() }
    func ringKey(_ derivation: [UInt8]) throws -> [UInt8] { try base.ringKey(derivation) }

    func sealer(dataKey: [UInt8], salt: [UInt8], purpose: String) -> Sealer {
        let sealer = base.sealer(dataKey: dataKey, salt: salt, purpose: purpose)
        return Sealer(cipher: Cipher(base: sealer.cipher, suite: self), mask: sealer.mask)
    }

    private struct Cipher: SealingCipher {
        let base: any SealingCipher
        let suite: FailingSealing

        func seal(
            _ plain: UnsafeRawBufferPointer, _ nonce: SealingNonce,
            authenticating context: UnsafeRawBufferPointer,
            into target: UnsafeMutableRawBufferPointer
        ) throws { try base.seal(plain, nonce, authenticating: context, into: target) }

        func open(
            _ sealed: UnsafeRawBufferPointer, _ nonce: SealingNonce,
            authenticating context: UnsafeRawBufferPointer,
            into target: UnsafeMutableRawBufferPointer
        ) throws -> Bool {
            if suite.count.wrappingAdd(1, ordering: .relaxed).newValue == suite.failing {
                throw RoostError(.io, "there is no cipher")
            }
            return try base.open(sealed, nonce, authenticating: context, into: target)
        }
    }
}
