import Foundation
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

private func permissions(_ path: String) throws -> Int {
    try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
}

private func code(_ body: () throws -> Void) -> RoostError.Code? {
    do { try body() } catch { return (error as? RoostError)?.code }
    return nil
}

/// A thread that makes and removes files while a test does something else.
private final class Churn: Sendable {
    private let directory: any Directory
    private let isDone = Atomic<Bool>(false)
    private let started = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    init(_ directory: any Directory) { self.directory = directory }

    func run(_ body: () throws -> Void) throws {
        Thread { [self] in
            do {
                repeat {
                    for index in 0..<16 { _ = try directory.createFile("moving-\(index)") }
                    started.signal()
                    for index in 0..<16 { try directory.remove("moving-\(index)") }
                } while !isDone.load(ordering: .relaxed)
            } catch { Issue.record(error) }
            ended.signal()
        }.start()
        started.wait()
        defer {
            isDone.store(true, ordering: .relaxed)
            ended.wait()
        }
        try body()
    }
}

@Suite struct PosixFileSystemTests {
    let fileSystem = PosixFileSystem()

    @Test func directoriesAndFilesBelongToTheirOwnerAloneFromTheirCreation() async throws {
        try await withTemporaryDirectory { path in
            let directory = try fileSystem.openDirectory(at: "\(path)/a/b", create: true)
            _ = try directory.createFile("f")
            #expect(try permissions("\(path)/a") == 0o700)
            #expect(try permissions("\(path)/a/b") == 0o700)
            #expect(try permissions("\(path)/a/b/f") == 0o600)
        }
    }

    @Test func symbolicLinksPipesAndDirectoriesAreRefused() async throws {
        try await withTemporaryDirectory { path in
            let directory = try fileSystem.openDirectory(at: path, create: false)
            try FileManager.default.createSymbolicLink(
                atPath: "\(path)/link", withDestinationPath: "/etc/passwd")
            #expect(mkfifo("\(path)/pipe", 0o600) == 0)
            try FileManager.default.createDirectory(
                atPath: "\(path)/folder", withIntermediateDirectories: false)
            for name in ["link", "pipe", "folder"] {
                for writable in [false, true] {
                    do {
                        _ = try directory.openFile(name, writable: writable)
                        Issue.record("\(name) was opened")
                    } catch let error as RoostError {
                        #expect(error.code == .io)
                        #expect(error.file == "\(path)/\(name)")
                    }
                }
            }
            #expect(try directory.entries().allSatisfy { !$0.isRegularFile })
        }
    }

    @Test func aFileIsCreatedOnlyWhereItsNameIsFree() async throws {
        try await withTemporaryDirectory { path in
            let directory = try fileSystem.openDirectory(at: path, create: false)
            _ = try directory.createFile("f")
            #expect(code { _ = try directory.createFile("f") } == .io)
            #expect(code { _ = try directory.openFile("missing", writable: false) } == .io)
        }
    }

    @Test func anExclusiveLockKeepsOutEveryOtherAndASharedOneOnlyExclusiveOnes() async throws {
        try await withTemporaryDirectory { path in
            let first = try fileSystem.openDirectory(at: path, create: false)
            let second = try fileSystem.openDirectory(at: path, create: false)
            try first.lock(exclusive: true)
            #expect(code { try second.lock(exclusive: true) } == .locked)
            #expect(code { try second.lock(exclusive: false) } == .locked)
            try first.unlock()
            try second.lock(exclusive: false)
            try first.lock(exclusive: false)
            let third = try fileSystem.openDirectory(at: path, create: false)
            #expect(code { try third.lock(exclusive: true) } == .locked)
            #expect(try directoryIsEmpty(path))
        }
    }

    @Test func aLockGoesWithItsLastHandle() async throws {
        try await withTemporaryDirectory { path in
            do { try fileSystem.openDirectory(at: path, create: false).lock(exclusive: true) }
            let again = try fileSystem.openDirectory(at: path, create: false)
            // A process that another test starts has a copy of the handle until it runs its program.
            let end = ContinuousClock.now + .seconds(60)
            while code({ try again.lock(exclusive: true) }) == .locked, .now < end {
                try await Task.sleep(for: .milliseconds(10))
            }
            let third = try fileSystem.openDirectory(at: path, create: false)
            #expect(code { try third.lock(exclusive: true) } == .locked)
            try again.unlock()
            try third.lock(exclusive: true)
        }
    }

    private func directoryIsEmpty(_ path: String) throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: path).isEmpty
    }

    @Test(arguments: [true, false])
    func whatIsWrittenIsReadAndMapped(allowsMapping: Bool) async throws {
        try await withTemporaryDirectory { path in
            let directory = try PosixFileSystem(allowsMapping: allowsMapping)
                .openDirectory(at: path, create: false)
            let file = try directory.createFile("f")
            try file.preallocate(sizeBytes: 8192)
            #expect(try file.sizeBytes() == 8192)
            try [1, 2, 3, 4].withUnsafeBytes { try file.write($0, at: 4090) }
            #expect(try file.read(count: 8, at: 4090) == [1, 0, 0, 0, 0, 0, 0, 0])
            let region = try file.contents(sizeBytes: 8192)
            #expect(region.bytes[4090] == 1)
            #expect(try (file.map(sizeBytes: 8192, writable: false) != nil) == allowsMapping)
            try file.truncate(to: 100)
            #expect(code { _ = try file.read(count: 8, at: 96) } == .corrupt)
            try file.syncData()
            try directory.rename("f", to: "g")
            try directory.sync()
            #expect(try directory.entries().map(\.name) == ["g"])
            try directory.remove("g")
            #expect(try directoryIsEmpty(path))
        }
    }

    /// Written by calls and through a mapping, on disk and not yet.
    @Test(arguments: [true, false])
    func whatWasWrittenEndsBeforeTheWrittenEnd(isSynced: Bool) async throws {
        try await withTemporaryDirectory { path in
            let directory = try fileSystem.openDirectory(at: path, create: false)
            let file = try directory.createFile("f")
            let sizeBytes = 1 << 20
            try file.preallocate(sizeBytes: UInt64(sizeBytes))
            #expect(try file.writtenEnd() <= UInt64(sizeBytes))
            try [1].withUnsafeBytes { try file.write($0, at: 10) }
            #expect(try file.writtenEnd() > 10)
            let region = try #require(try file.map(sizeBytes: sizeBytes, writable: true))
            region.base.storeBytes(of: 1, toByteOffset: 300_000, as: UInt8.self)
            if isSynced { try file.syncData() }
            for reader in [file, try directory.openFile("f", writable: false)] {
                let end = try reader.writtenEnd()
                #expect(end > 300_000 && end <= UInt64(sizeBytes))
            }
            try file.truncate(to: 100)
            #expect(try (11...100).contains(file.writtenEnd()))
        }
    }

    @Test func aListingWithFilesComingAndGoingSucceeds() async throws {
        // A file may go between the listing and the look at it: the compactor lists the
        // directory while the log gives a segment up.
        try await withTemporaryDirectory { path in
            let directory = try fileSystem.openDirectory(at: path, create: false)
            for index in 0..<64 { _ = try directory.createFile("fixed-\(index)") }
            try Churn(directory).run {
                for _ in 0..<2_000 {
                    let names = try directory.entries().map(\.name)
                    #expect(names.count { $0.hasPrefix("fixed") } == 64)
                }
            }
        }
    }
}
