import Foundation
import Roost
import RoostFormat
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

/// What becomes of a store whose files are cut while it is open. Each mode is a process of its own: a
/// handler of a signal is the whole process's.
@Suite struct PageFaultTests {
    @Test(arguments: ["faults-before", "faults-after", "faults-alone"])
    func cutSnapshotsAreErrorsWithFileAndOffset(mode: String) async throws {
        try await withTemporaryDirectory { path in
            let child = try CrashWriter("\(path)/store", mode: mode)
            #expect(child.waitForEnd() == 0, "\(child.lines)")
            #expect(child.lines.contains { $0.hasPrefix("errors ") && $0 != "errors 0" })
            #expect(child.lines.contains("new [9]"))
            if mode != "faults-alone" { #expect(child.lines.contains("own 7 handled 1")) }
        }
    }

    @Test func theProgramsOwnFaultStillEndsItWhereItHasNoHandler() async throws {
        try await withTemporaryDirectory { path in
            let child = try CrashWriter("\(path)/store", mode: "faults-own")
            #expect(child.waitForEnd() == SIGBUS)
            #expect(child.wasEndedBySignal)
        }
    }

    @Test func whoDeclinesTheHandlerHasNone() async throws {
        try await withTemporaryDirectory { path in
            let child = try CrashWriter("\(path)/store", mode: "faults-declined")
            #expect(child.waitForEnd() == SIGBUS)
            #expect(child.wasEndedBySignal)
        }
    }

    /// The log is not checked again when it is read: whether its pages were there is.
    @Test func aCutLogIsAnErrorAndNeverAnOlderOrMissingValue() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(
                at: path, configuration: .init(shardCount: 2, memoryBudgetBytes: 0))
            let values = workspace.dictionary("values")
            for number in 0..<300 { try await values.set("old", forKey: "\(number)") }
            try await workspace.compact()
            for number in 0..<300 {
                try await values.set(
                    String(repeating: "\(number)", count: 300), forKey: "\(number)")
            }
            let name = try #require(try fileNames(in: path, prefix: "log").last)
            // A cut within a page clears the rest of it, as a write of zeros does.
            let kept = 24 * 4096
            try #require(truncate("\(path)/\(name)", off_t(kept)) == 0)
            var errorCount = 0
            for number in 0..<300 {
                do {
                    let found = try values.value(forKey: "\(number)", as: String.self)
                    #expect(found == String(repeating: "\(number)", count: 300))
                } catch let error as RoostError {
                    #expect(error.code == .io)
                    #expect(error.file?.hasSuffix(name) == true)
                    #expect(try #require(error.offset) >= UInt64(kept))
                    errorCount += 1
                }
            }
            #expect(errorCount > 100 && errorCount < 300)
            // Nothing of it may become a snapshot, and the segment has to stay. The log cannot be ended
            // where it was, so that nothing more is written to it.
            await #expect { try await workspace.compact() } throws: {
                let error = $0 as? RoostError
                return error?.code == .poisoned && (error?.cause as? RoostError)?.code == .io
            }
            #expect(try fileNames(in: path, prefix: "log").contains(name))
            do { try await workspace.close() } catch is RoostError {}
        }
    }

    /// As above, and the next write is one that the log makes by a call: it made the file long again, and the next
    /// compaction took the zeros in it for the log.
    @Test(arguments: [true, false])
    func aLargeWriteDoesNotHideThatTheLogWasCut(isAwaited: Bool) async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(
                at: path, configuration: .init(shardCount: 2, memoryBudgetBytes: 0))
            let values = workspace.dictionary("values")
            for number in 0..<300 {
                try await values.set(String(repeating: "x", count: 900), forKey: "\(number)")
            }
            let name = try #require(try fileNames(in: path, prefix: "log").last)
            let kept = 24 * 4096
            try #require(truncate("\(path)/\(name)", off_t(kept)) == 0)
            let large = String(repeating: "y", count: 64 << 10)
            let error = await #expect(throws: RoostError.self) {
                try await values.set(
                    large, forKey: "large", durability: isAwaited ? .synced : .process)
            }
            #expect(error?.code == .poisoned)
            #expect(try readBytes("\(path)/\(name)").count == kept)
            await #expect(throws: RoostError.self) { try await workspace.compact() }
            #expect(try fileNames(in: path, prefix: "log").contains(name))
            do { try await workspace.close() } catch is RoostError {}
        }
    }

    @Test func anAppendIntoAPageThatIsNotThereLosesNothing() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(
                at: path, configuration: .init(durability: .process, memoryBudgetBytes: 0))
            let values = workspace.dictionary("values")
            try await values.set("first", forKey: "first")
            let name = try #require(try fileNames(in: path, prefix: "log").last)
            // What is preallocated goes; the next page that is written to is not there.
            try #require(truncate("\(path)/\(name)", 4096) == 0)
            for number in 0..<200 {
                try await values.set(String(repeating: "x", count: 500), forKey: "\(number)")
            }
            try await workspace.synchronize()
            #expect(try values.value(forKey: "first", as: String.self) == "first")
            let copy = "\(path)-copy"
            defer { try? FileManager.default.removeItem(atPath: copy) }
            try copyDirectory(path, to: copy)
            let again = try await Workspace.open(at: copy)
            #expect(again.recovery.tornTails.isEmpty)
            #expect(try again.dictionary("values").count == 201)
            try await again.close()
            try await workspace.close()
        }
    }

    @Test func aNewDirectorysNameIsSyncedBeforeThereIsAnythingInIt() async throws {
        try await withTemporaryDirectory { path in
            let calls = Recorded()
            let fileSystem = ObservedFileSystem { calls.add($0) }
            // As an application makes it, without a sync.
            let made = "\(path)/a/b/store"
            try FileManager.default.createDirectory(
                atPath: made, withIntermediateDirectories: true)
            let workspace = try await Workspace.open(
                at: made, configuration: .init(), fileSystem: fileSystem)
            let all = calls.all
            let synced = try #require(all.firstIndex(of: .syncAncestors))
            let named = try #require(
                all.firstIndex {
                    if case .rename(_, FileName.manifest.text) = $0 { true } else { false }
                })
            #expect(synced < named)
            try await workspace.close()
            // It is on disk from then on, and an opening need not ask again.
            let again = try await Workspace.open(
                at: made, configuration: .init(), fileSystem: fileSystem)
            #expect(calls.all.count { $0 == .syncAncestors } == 1)
            try await again.close()
        }
    }
}

private final class Recorded: Sendable {
    private let calls = Mutex<[FileCall]>([])
    func add(_ call: FileCall) { calls.withLock { $0.append(call) } }
    var all: [FileCall] { calls.withLock { $0 } }
}
