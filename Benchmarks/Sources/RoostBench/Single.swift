import ArgumentParser
import Foundation
import Roost

/// One kind of operation, a given number of times: for counting instructions from outside, as
/// the difference between two counts.
struct Single: AsyncParsableCommand {
    enum Operation: String, ExpressibleByArgument, CaseIterable {
        case put, get, coldGet, absent, batch
        /// Opening a closed, compacted workspace in a running process, and the first value.
        case open
    }

    static let configuration = CommandConfiguration(
        abstract: "Run one kind of operation; for callgrind and perf.")

    @Argument var operation: Operation
    @Option var count = 20_000
    @Option(help: "Keys in the workspace before reads.")
    var keys = 20_000
    @Option(help: "Bytes of a value.")
    var valueSizeBytes = 100
    @Option var directory = NSTemporaryDirectory()

    @Flag(help: "Leave the workspace and print its path.")
    var keep = false
    @Option(
        name: .customLong("workspace"),
        help: "Read this one, which a run with --keep has left: a profile shows nothing else.")
    var existingPath: String?

    func validate() throws {
        guard valueSizeBytes >= 8 else {
            throw ValidationError("--value-size-bytes is at least 8")
        }
        guard existingPath == nil || [.get, .coldGet, .absent].contains(operation) else {
            throw ValidationError(
                "--workspace is for get, coldGet and absent: nothing else reads only.")
        }
    }

    func run() async throws {
        let path = existingPath ?? "\(directory)/roost-bench-\(UUID().uuidString)"
        let workload = Workload(keyCount: keys, valueSizeBytes: valueSizeBytes)
        let configuration = Workspace.Configuration(durability: .process)
        var workspace = try await Workspace.open(at: path, configuration: configuration)
        var bytes = workspace.dictionary("bytes")
        if operation != .put, existingPath == nil {
            for index in 0..<keys {
                try await bytes.set(workload.value(index), forKey: workload.key(index))
            }
        }
        if operation == .open { return try await measureOpenings(path, workspace, workload) }
        if operation == .coldGet || operation == .absent, existingPath == nil {
            try await workspace.compact()
            try await workspace.close()
            workspace = try await Workspace.open(at: path, configuration: configuration)
            bytes = workspace.dictionary("bytes")
        }
        let begin = processSeconds()
        let cost = try await nanoseconds(per: count) { try await work(workload, bytes) }
        let processor = (processSeconds() - begin) * 1e9 / Double(count)
        print("\(operation.rawValue) \(Int(cost)) ns, \(Int(processor)) ns of the processor")
        try await workspace.close()
        if keep || existingPath != nil { return print(path) }
        try FileManager.default.removeItem(atPath: path)
    }

    private func measureOpenings(
        _ path: String, _ workspace: Workspace, _ workload: Workload
    ) async throws {
        try await workspace.compact()
        try await workspace.close()
        var samples: [Double] = []
        for index in 0..<count {
            let begin = ContinuousClock.now
            let opened = try await Workspace.open(
                at: path, configuration: .init(durability: .process))
            let value = try opened.dictionary("bytes").value(
                forKey: workload.key(index % keys), as: [UInt8].self)
            samples.append(seconds(.now - begin) * 1e9)
            precondition(value != nil)
            try await opened.close()
        }
        samples.sort()
        print(
            String(
                format: "open and first value: median %.0f us, least %.0f, p90 %.0f",
                median(samples) / 1e3, samples[0] / 1e3, samples[samples.count * 9 / 10] / 1e3))
        try FileManager.default.removeItem(atPath: path)
    }

    private func work(_ workload: Workload, _ bytes: WorkspaceDictionary) async throws {
        switch operation {
        case .put:
            for index in 0..<count {
                try await bytes.set(workload.value(index), forKey: workload.key(index))
            }
        case .get, .coldGet:
            var indices = workload.shuffledIndices()
            for _ in 0..<count {
                if let index = indices.next() {
                    _ = try bytes.value(forKey: workload.key(index), as: [UInt8].self)
                } else {
                    indices = workload.shuffledIndices()
                }
            }
        case .absent:
            for index in 0..<count { _ = try bytes.contains(workload.key(index + keys)) }
        case .open: break
        case .batch:
            for begin in stride(from: 0, to: count, by: 1000) {
                try await bytes.setAll(
                    (begin..<(begin + 1000)).map { (workload.key($0), workload.value($0)) })
            }
        }
    }
}
