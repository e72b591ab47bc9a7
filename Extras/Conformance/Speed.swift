import Foundation
import Roost
import RoostShared
import Synchronization

/// How many calls a second a shared workspace makes, beside nothing else: for a comparison with the engine's own
/// client on the same servers, which scripts/shared-speed makes.
///
/// Keys have 16 characters, values 100 bytes.
struct Speed {
    let workspace: SharedWorkspace
    let seconds: Double

    /// Prints one figure a line: what, and calls a second.
    func run() async throws {
        let dictionary = workspace.dictionary("speed")
        let value = [UInt8](repeating: 0x61, count: 100)
        for callers in [1, 16] {
            let sets = try await rate(callers) { number in
                try await dictionary.set(value, forKey: Self.key(number % 1_000))
            }
            print("set, \(callers) at a time: \(Int(sets)) a second")
            let loads = try await rate(callers) { number in
                guard
                    try await dictionary.load(Self.key(number % 1_000), as: [UInt8].self) != nil
                else { throw SpeedError.missing }
            }
            print("load, \(callers) at a time: \(Int(loads)) a second")
        }
        try await followedReads(dictionary)
        try await manyWatchers()
        try await manyUpdates()
    }

    /// Sets and loads one key a few times.
    func runOneCall() async throws {
        let dictionary = workspace.dictionary("speed")
        let value = [UInt8](repeating: 0x61, count: 100)
        for _ in 0..<3 {
            try await dictionary.set(value, forKey: Self.key(7))
            _ = try await dictionary.load(Self.key(7), as: [UInt8].self)
        }
    }

    private enum SpeedError: Error { case missing }

    private static func key(_ number: Int) -> String {
        let digits = String(number)
        return "k" + String(repeating: "0", count: 15 - digits.count) + digits
    }

    /// Calls a second of so many callers, each of which makes one call after another.
    private func rate(
        _ callers: Int, _ call: @escaping @Sendable (Int) async throws -> Void
    ) async throws -> Double {
        // Connections, statements and pages are there before the time is taken.
        for number in 0..<1_000 { try await call(number) }
        let begin = ContinuousClock.now
        let end = begin + .seconds(seconds)
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for caller in 0..<callers {
                group.addTask {
                    var count = 0
                    while ContinuousClock.now < end {
                        try await call(caller * 61 + count)
                        count += 1
                    }
                    return count
                }
            }
            return try await group.reduce(0, +)
        }
        return Double(count) / Self.seconds(.now - begin)
    }

    private static func seconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }

    // MARK: Followed reads

    /// Beside reads of an embedded dictionary with the same values, in turn.
    private func followedReads(_ dictionary: SharedDictionary) async throws {
        let local = try await Workspace.inMemory()
        let embedded = local.dictionary("embedded")
        let value = [UInt8](repeating: 0x61, count: 100)
        for number in 0..<1_000 { try await embedded.set(value, forKey: Self.key(number)) }
        let followed = try await workspace.follow("speed", in: local)
        try await followed.reached(try await workspace.revision)
        let keys = (0..<1_000).map(Self.key)
        var (ofFollowed, ofEmbedded): ([Double], [Double]) = ([], [])
        for _ in 0..<9 {
            ofEmbedded.append(
                try Self.nanoseconds(keys) { try embedded.value(forKey: $0, as: [UInt8].self) })
            ofFollowed.append(
                try Self.nanoseconds(keys) { try followed.value(forKey: $0, as: [UInt8].self) })
        }
        let (first, second) = (ofFollowed.sorted()[4], ofEmbedded.sorted()[4])
        print(
            String(
                format: "a followed read: %.0f ns, an embedded one: %.0f ns, %.2f times", first,
                second, first / second))
        await followed.close()
        try await local.close()
    }

    /// Of one read.
    private static func nanoseconds(
        _ keys: [String], _ read: (String) throws -> [UInt8]?
    ) throws -> Double {
        let rounds = 200
        let begin = ContinuousClock.now
        for _ in 0..<rounds {
            for key in keys where try read(key)?.count != 100 { throw SpeedError.missing }
        }
        return seconds(.now - begin) * 1e9 / Double(rounds * keys.count)
    }

    // MARK: Many

    /// How many watchers have been told.
    private final class Told: Sendable {
        let count = Atomic(0)
    }

    /// Ten thousand watchers of a key each; all of the keys are set, and each watcher has to be told.
    private func manyWatchers() async throws {
        let watched = workspace.dictionary("watched")
        let count = 10_000
        let told = Told()
        let since = try await workspace.revision
        var watchers: [Task<Void, Never>] = []
        for number in 0..<count {
            let changes = watched.changes(forKey: Self.key(number), as: Int.self, since: since)
            watchers.append(
                Task {
                    for await change in changes {
                        if case .set(_, let value, _) = change, value == number {
                            told.count.wrappingAdd(1, ordering: .relaxed)
                            return
                        }
                    }
                })
        }
        let begin = ContinuousClock.now
        for first in stride(from: 0, to: count, by: 50) {
            try await watched.setAll((first..<first + 50).map { (Self.key($0), $0) })
        }
        let written = Self.seconds(.now - begin)
        while told.count.load(ordering: .relaxed) < count, Self.seconds(.now - begin) < 120 {
            try await Task.sleep(for: .milliseconds(5))
        }
        let end = Self.seconds(.now - begin)
        for watcher in watchers { watcher.cancel() }
        print(
            String(
                format: "%d watched keys: %d told, all written after %.2f s, all told after %.2f s",
                count, told.count.load(ordering: .relaxed), written, end))
    }

    /// A thousand tasks change one counter, some times each.
    private func manyUpdates() async throws {
        let counters = workspace.withCallDeadline(.seconds(300)).dictionary("counters")
        try await counters.set(0, forKey: "one")
        let begin = ContinuousClock.now
        let waits = try await withThrowingTaskGroup(of: [Double].self) { group in
            for _ in 0..<1_000 {
                group.addTask {
                    var waits: [Double] = []
                    for _ in 0..<3 {
                        let begin = ContinuousClock.now
                        try await counters.update("one", default: 0) { $0 += 1 }
                        waits.append(Self.seconds(.now - begin))
                    }
                    return waits
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }.sorted()
        }
        let sum = try await counters.load("one", as: Int.self) ?? 0
        print(
            String(
                format:
                    "a counter of 1,000 callers: %d of 3,000 after %.1f s; a wait %.2f s in the "
                    + "median, %.2f s at most", sum, Self.seconds(.now - begin),
                waits[waits.count / 2], waits[waits.count - 1]))
    }
}
