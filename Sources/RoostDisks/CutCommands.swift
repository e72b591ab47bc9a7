import ArgumentParser
import Foundation
import Roost
import RoostSimulation
import Synchronization

/// Writes to a store until it is killed, and notes in memory that it shares what was acknowledged.
struct CutWriterCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "cut-writer")

    enum Promise: String, ExpressibleByArgument { case synced, interval }

    @Argument var path: String
    @Option(help: "The file that says what was acknowledged; on another disk.") var acknowledged:
        String
    @Option var promise: Promise = .synced
    @ArgumentParser.Flag(help: "An encrypted workspace, by a quick cipher for tests.")
    var encrypted = false

    /// The simulation's cipher protects nothing, but finds what a real one finds.
    static func encryption(_ isOn: Bool) -> WorkspaceEncryption? {
        isOn ? WorkspaceEncryption(SimulatedSealing()) : nil
    }

    func run() async throws {
        let shared = try AcknowledgedWrites(path: acknowledged, create: true)
        let promise = promise
        let workspace = try await Workspace.open(
            at: path,
            configuration: .init(
                durability: promise == .synced ? .synced : .interval(.milliseconds(50)),
                memoryBudgetBytes: 4 << 20, encryption: Self.encryption(encrypted)))
        FileHandle.standardOutput.write(Data("ready\n".utf8))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<AcknowledgedWrites.taskCount {
                group.addTask { try await Self.write(workspace, task, promise, shared) }
            }
            try await group.waitForAll()
        }
    }

    /// Each batch writes one number to eight keys, so that one by half would be seen.
    private static func write(
        _ workspace: Workspace, _ task: Int, _ promise: Promise, _ shared: AcknowledgedWrites
    ) async throws {
        let values = workspace.dictionary("task \(task)")
        let filler = String(repeating: "f", count: 100 + 50 * task)
        let first = (try values.value(forKey: "0", as: Int.self) ?? 0) + 1
        for number in first... {
            try await workspace.write { batch in
                for key in 0..<8 { batch.set(number, forKey: "\(key)", in: values) }
                batch.set(filler, forKey: "filler \(number % 20_000)", in: values)
            }
            shared.note(number, task: task)
        }
    }
}

/// Opens what a power cut left and compares it with what was acknowledged before it.
struct CutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "cut")

    @Argument var path: String
    @Option(help: "A copy, made before the cut, of what was acknowledged.") var before: String
    @Option(help: "When the cut was begun, in nanoseconds of the monotonic clock.") var beganAt:
        UInt64
    @Option var promise: CutWriterCommand.Promise = .synced
    @ArgumentParser.Flag(help: "The workspace was opened with it.") var encrypted = false

    func run() async throws {
        let shared = try AcknowledgedWrites(path: before, create: false)
        var broken: [String] = []
        var oldest: UInt64 = 0
        var lostCount = 0
        let acknowledgedCount = (0..<AcknowledgedWrites.taskCount).reduce(0) {
            $0 + shared.count(task: $1)
        }
        do {
            let workspace = try await Workspace.open(
                at: path,
                configuration: .init(encryption: CutWriterCommand.encryption(encrypted)))
            for task in 0..<AcknowledgedWrites.taskCount {
                let values = workspace.dictionary("task \(task)")
                let numbers = try (0..<8).map {
                    try values.value(forKey: "\($0)", as: Int.self) ?? 0
                }
                if Set(numbers).count > 1 { broken.append("torn: task \(task): \(numbers)") }
                let (found, wanted) = (numbers[0], shared.count(task: task))
                guard found < wanted else { continue }
                lostCount += wanted - found
                if wanted - found >= AcknowledgedWrites.ringCount {
                    broken.append("lost: task \(task): more than times are kept of")
                }
                // The first that is missing was acknowledged longest ago.
                let age = beganAt - min(beganAt, shared.time(of: found + 1, task: task))
                oldest = max(oldest, age)
                if promise == .synced {
                    broken.append("lost: task \(task) has \(found) of \(wanted)")
                }
            }
            let report = try await workspace.verify()
            if !report.isSound { broken.append("verify: \(report)") }
            try await workspace.close()
        } catch { broken.append("\(error)") }
        try report(
            [
                "acknowledged": acknowledgedCount, "lost": lostCount,
                "oldestLostMilliseconds": Double(oldest) / 1e6,
            ], broken: broken)
    }
}

/// Shared memory: for each task how many writes were acknowledged, and when each of the last was.
final class AcknowledgedWrites: Sendable {
    static let taskCount = 3
    /// So many of the last have their times.
    static let ringCount = 1 << 18
    private static let taskWords = 8 + ringCount
    private static let sizeBytes = taskCount * taskWords * 8

    private let address: UInt

    init(path: String, create: Bool) throws {
        let descriptor = open(path, create ? O_RDWR | O_CREAT : O_RDWR, 0o600)
        guard descriptor >= 0 else { throw POSIXError(.ENOENT) }
        defer { close(descriptor) }
        guard !create || ftruncate(descriptor, off_t(Self.sizeBytes)) == 0,
            let base = mmap(
                nil, Self.sizeBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
            base != MAP_FAILED
        else { throw POSIXError(.EIO) }
        address = UInt(bitPattern: base)
    }

    deinit { munmap(UnsafeMutableRawPointer(bitPattern: address), Self.sizeBytes) }

    /// An aligned word of the mapping, which lives as long as `self`.
    private func word(_ index: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
        UnsafeMutableRawPointer(bitPattern: address)!.advanced(by: index * 8)
            .assumingMemoryBound(to: Atomic<UInt64>.self)
    }

    private func timeWord(_ number: Int, _ task: Int) -> Int {
        task * Self.taskWords + 8 + number % Self.ringCount
    }

    func note(_ number: Int, task: Int) {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        word(timeWord(number, task)).pointee.store(
            UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec), ordering: .relaxed)
        word(task * Self.taskWords).pointee.store(UInt64(number), ordering: .releasing)
    }

    func count(task: Int) -> Int {
        Int(word(task * Self.taskWords).pointee.load(ordering: .acquiring))
    }

    func time(of number: Int, task: Int) -> UInt64 {
        word(timeWord(number, task)).pointee.load(ordering: .relaxed)
    }
}
