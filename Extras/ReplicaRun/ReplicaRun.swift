import Crypto
import Foundation
import Roost
import RoostEncryption
import RoostReplica

/// What `scripts/replica-run` starts:
///
///     replica-run write WORKSPACE ADDRESS HISTORY SECONDS INTERVAL_MS
///     replica-run check DIRECTORY ADDRESS HISTORY COUNT SEED INTERVAL_MS
///     replica-run newest DIRECTORY ADDRESS HISTORY LEAST_TIME
///
/// HISTORY has a line for each batch: its sequence number and when its call returned, in milliseconds; and one
/// for each start: zero, and when. With ROOST_KEY_FILE, of 32 bytes, the workspace is encrypted, and its copy sealed.
@main
struct ReplicaRun {
    /// Waits for a task: valgrind ends with a fault of its own in programs whose main thread ends first.
    static func main() {
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            do { try await run() } catch { fail("\(error)") }
            done.signal()
        }
        done.wait()
    }

    private static func run() async throws {
        let arguments = CommandLine.arguments
        func number(_ index: Int) -> UInt64 { UInt64(arguments[index]) ?? 0 }
        switch arguments.dropFirst().first {
        case "write":
            try await write(
                at: arguments[2], to: arguments[3], history: arguments[4],
                seconds: number(5), interval: .milliseconds(Int64(number(6))))
        case "check":
            try await Check(
                directory: arguments[2], storage: storage(arguments[3]),
                times: history(arguments[4]), stalls: Stalls.read("\(arguments[4]).stalls"),
                slack: number(7), restorableFrom: restorableFrom(arguments[4])
            ).run(count: Int(number(5)), seed: number(6))
        case "newest":
            try await newest(
                in: arguments[2], from: arguments[3], history: arguments[4], time: number(5))
        case "puts":
            try await Puts(
                path: arguments[2], count: Int(number(3)), isCopied: arguments[4] == "copied"
            )
            .run()
        default: fail("write, check, newest or puts")
        }
    }

    static func fail(_ reason: String) -> Never {
        FileHandle.standardError.write(Data("replica-run: \(reason)\n".utf8))
        exit(1)
    }

    static func storage(_ address: String) throws -> any ObjectStorage {
        if address.hasPrefix("/") { return DirectoryStorage(path: address) }
        let credentials = try S3Credentials.fromEnvironment()
        return S3Storage(try .init(address), timeout: .seconds(2)) { credentials }
    }

    static let encryption: WorkspaceEncryption? = {
        guard let path = ProcessInfo.processInfo.environment["ROOST_KEY_FILE"] else { return nil }
        guard let key = FileManager.default.contents(atPath: path), key.count == 32 else {
            fail("\(path) is no key")
        }
        return .key(SymmetricKey(data: key))
    }()

    static var milliseconds: UInt64 { UInt64(Date().timeIntervalSince1970 * 1000) }

    // MARK: Writing

    /// Writes until the time is over or the process is killed. Each batch's number goes to the history
    /// once its call has returned.
    static func write(
        at path: String, to address: String, history: String, seconds: UInt64, interval: Duration
    ) async throws {
        let workspace = try await Workspace.open(
            at: path, configuration: .init(memoryBudgetBytes: 2 << 20, encryption: encryption))
        let replica = try Replica(
            of: workspace, to: try storage(address), encryption: encryption,
            options: .init(
                interval: interval, retention: .seconds(3600), signOfLifeInterval: .seconds(5),
                minimumBytesBetweenBases: 4 << 20))
        if !FileManager.default.fileExists(atPath: history) {
            try Data().write(to: URL(fileURLWithPath: history))
        }
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: history))
        try file.seekToEnd()
        try file.write(contentsOf: Data("0 \(milliseconds)\n".utf8))
        let stalls = Stalls(path: "\(history).stalls")
        defer { stalls.end() }
        let end = milliseconds + seconds * 1000
        var sequence = workspace.statistics.lastSequence
        var isRestorable = FileManager.default.fileExists(atPath: restorable(history))
        while milliseconds < end {
            if !isRestorable, replica.status.copiedSequence > 0 {
                isRestorable = true
                try Data("\(milliseconds)\n".utf8).write(
                    to: URL(fileURLWithPath: restorable(history)))
            }
            for _ in 0..<20 {
                sequence += 1
                try await Model.write(sequence, to: workspace)
                try file.write(contentsOf: Data("\(sequence) \(milliseconds)\n".utf8))
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        try await replica.stop(within: .seconds(60))
        let status = replica.status
        let sent = status.journalBytesSent + status.baseBytesSent
        print(
            "wrote up to batch \(sequence): \(status.logBytesCopied) bytes of log, \(sent) sent, "
                + "\(status.baseCount) bases, \(status.historyCount) histories")
        try await workspace.close()
    }

    /// The file that says when a writer was first told that its copy can be restored.
    private static func restorable(_ history: String) -> String { "\(history).restorable" }

    private static func restorableFrom(_ history: String) throws -> UInt64 {
        guard FileManager.default.fileExists(atPath: restorable(history)) else {
            fail("the copy could not be restored at any time")
        }
        let text = try String(contentsOfFile: restorable(history), encoding: .utf8)
        guard let time = UInt64(text.dropLast()) else { fail("\(restorable(history)) is torn") }
        return time
    }

    /// When the call of each batch had returned; a batch that a kill took is not in it.
    static func history(_ path: String) throws -> [(sequence: UInt64, time: UInt64)] {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        // The last line may be torn.
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().compactMap {
            let parts = $0.split(separator: " ")
            guard parts.count == 2, let sequence = UInt64(parts[0]), let time = UInt64(parts[1])
            else { return nil }
            return (sequence, time)
        }
    }

    /// Restores the newest state, which must have all that was committed by `time`.
    static func newest(
        in directory: String, from address: String, history path: String, time: UInt64
    ) async throws {
        let times = try history(path)
        let check = Check(
            directory: directory, storage: try storage(address), times: times, stalls: [], slack: 0)
        var model = Model()
        let report = try await check.restore(at: .newest, &model)
        let heldUp = Stalls.read("\(path).stalls").filter { $0.upperBound + 2_000 >= time }
            .map(\.length).reduce(0, +)
        let wanted = check.times.last { $0.time + heldUp <= time }?.sequence ?? 0
        guard report.lastSequence >= wanted else {
            fail(
                "batch \(wanted) was committed in time and is not in the copy: it has up to \(report.lastSequence)"
            )
        }
        print(
            "the newest state has \(report.lastSequence) batches, \(wanted) were committed in time")
    }
}
