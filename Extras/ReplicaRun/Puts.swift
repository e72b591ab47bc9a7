import Foundation
import Roost
import RoostReplica

/// Puts of 100 bytes by one writer on a thread of its own, which does nothing else, with a copy and without:
/// so that valgrind can say what the writer executes. See `scripts/replica-cost`.
struct Puts {
    let path: String
    let count: Int
    let isCopied: Bool

    func run() async throws {
        let workspace = try await Workspace.open(
            at: path, configuration: .init(durability: .process))
        var options = ReplicaOptions()
        options.interval = .milliseconds(100)
        let storage = DirectoryStorage(path: "\(path).copy")
        let replica = isCopied ? try Replica(of: workspace, to: storage, options: options) : nil
        try await replica?.waitUntilCopied()
        let settings = workspace.dictionary("settings")
        let value = String(repeating: "v", count: 100)
        let done = DispatchSemaphore(value: 0)
        let writer = Thread {
            for number in 0..<count { settings.enqueue(value, forKey: "k\(number % 1000)") }
            done.signal()
        }
        writer.name = "writer"
        writer.start()
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                done.wait()
                continuation.resume()
            }
        }
        try await replica?.waitUntilCopied()
        let status = replica?.status
        try await replica?.stop()
        try await workspace.close()
        if let status {
            let sent = status.journalBytesSent + status.baseBytesSent
            print("\(status.logBytesCopied) bytes of log, \(sent) sent")
        }
    }
}
