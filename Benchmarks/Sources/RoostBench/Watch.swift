import ArgumentParser
import Foundation
import Roost
import Synchronization

/// Dflat's subscription benchmark: a thousand subscriptions, one batch that changes ten times as
/// many keys, the time until the last closure was called; and what watched keys cost the puts of
/// keys that nobody watches.
struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Delivery to subscriptions, and the cost of a put beside watched keys.")

    @Option(help: "Subscriptions, of a key each.")
    var subscriptions = 1_000
    @Option(help: "Keys that the batch changes, the subscribed ones among them.")
    var batch = 10_000
    @Option(help: "Watched keys beside the puts.")
    var watched = 100_000
    @Option(help: "Puts in each stretch; stretches of both kinds take turns.")
    var puts = 20_000
    @Option var rounds = 21
    @Option var directory = NSTemporaryDirectory()

    func run() async throws {
        for durability in [Durability.process, .synced] {
            try await withWorkspace { try await measureDelivery($0, durability) }
        }
        try await withWorkspace { bare in
            try await withWorkspace { try await measurePuts(bare, $0) }
        }
    }

    private func withWorkspace(_ body: (Workspace) async throws -> Void) async throws {
        let path = "\(directory)/roost-bench-\(UUID().uuidString)"
        let workspace = try await Workspace.open(
            at: path, configuration: .init(durability: .process))
        try await body(workspace)
        try await workspace.close()
        try FileManager.default.removeItem(atPath: path)
    }

    private func measureDelivery(_ workspace: Workspace, _ durability: Durability) async throws {
        let values = workspace.dictionary("values")
        let workload = Workload(keyCount: batch)
        let keys = (0..<batch).map(workload.key)
        try await values.setAll(keys.map { ($0, 0) })
        let counter = Countdown()
        counter.expect(subscriptions)
        let held = (0..<subscriptions).map { index in
            values.subscribe(keys[index * (batch / subscriptions)], of: Int.self) { _ in
                counter.count()
            }
        }
        await counter.wait()
        var (delivered, written): ([Double], [Double]) = ([], [])
        for round in 1...rounds {
            let pairs = keys.map { ($0, round) }
            counter.expect(subscriptions)
            delivered.append(
                try await nanoseconds(per: 1) {
                    written.append(
                        try await nanoseconds(per: 1) {
                            try await values.setAll(pairs, durability: durability)
                        })
                    await counter.wait()
                })
        }
        withExtendedLifetime(held) {}
        print(
            String(
                format: "%d subscriptions, batch of %d, %@: written %.2f ms, last delivery %.2f ms",
                subscriptions, batch, "\(durability)", median(written) / 1e6,
                median(delivered) / 1e6))
    }

    private func measurePuts(_ bare: Workspace, _ watching: Workspace) async throws {
        let held = (0..<watched).map { index in
            watching.dictionary("values").updates(of: "watched \(index)", as: [UInt8].self)
        }
        let workload = Workload(keyCount: puts * rounds)
        var samples: [[Double]] = [[], []]
        for round in 0..<rounds {
            let indices = (round * puts)..<((round + 1) * puts)
            let keys = indices.map(workload.key)
            let values = indices.map(workload.value)
            let order = round % 2 == 0 ? [0, 1] : [1, 0]
            for kind in order {
                let dictionary = (kind == 0 ? bare : watching).dictionary("values")
                samples[kind].append(
                    try await nanoseconds(per: puts) {
                        for place in keys.indices {
                            try await dictionary.set(values[place], forKey: keys[place])
                        }
                    })
            }
        }
        withExtendedLifetime(held) {}
        print(
            String(
                format: "unwatched put: no watched key %.0f ns, %d watched keys %.0f ns (%+.1f %%)",
                median(samples[0]), watched, median(samples[1]),
                (median(samples[1]) / median(samples[0]) - 1) * 100))
    }
}

/// Lets one task wait until so many calls came.
private final class Countdown: Sendable {
    private struct State {
        var missing = 0
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func expect(_ count: Int) { state.withLock { $0.missing = count } }

    func count() {
        let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.missing -= 1
            guard state.missing == 0 else { return nil }
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if state.missing <= 0 { return true }
                state.waiting = continuation
                return false
            }
            if isDone { continuation.resume() }
        }
    }
}
