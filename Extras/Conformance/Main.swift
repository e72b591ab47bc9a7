import Foundation
import RoostConformance
import RoostEtcd
import RoostPostgres
import RoostShared

/// Runs the conformance suite, or histories while faults go on, over real servers:
///
///     roost-conformance suite etcd http://127.0.0.1:2379,…
///     roost-conformance suite postgres postgres://…
///     roost-conformance histories etcd http://… --seconds 60
///     roost-conformance connect etcd https://… --authority FILE --user NAME --password WORD
@main struct Main {
    static func main() async {
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            guard arguments.count >= 3, let target = target(arguments[1], arguments[2]) else {
                throw Usage()
            }
            let isGood =
                switch arguments[0] {
                case "suite": try await runSuite(target, value(of: "--effort", arguments) ?? 1)
                case "histories":
                    try await runHistories(target, seconds: value(of: "--seconds", arguments) ?? 30)
                case "connect": await tryConnection(arguments)
                default: throw Usage()
                }
            exit(isGood ? 0 : 1)
        } catch {
            print("\(error)")
            exit(1)
        }
    }

    private struct Usage: Error, CustomStringConvertible {
        let description =
            "usage: roost-conformance suite|histories etcd|postgres URL[,URL…] [--effort N] [--seconds N]"
    }

    private static func value(of option: String, _ arguments: [String]) -> Int? {
        guard let place = arguments.firstIndex(of: option), place + 1 < arguments.count else {
            return nil
        }
        return Int(arguments[place + 1])
    }

    private static func text(of option: String, _ arguments: [String]) -> String? {
        guard let place = arguments.firstIndex(of: option), place + 1 < arguments.count else {
            return nil
        }
        return arguments[place + 1]
    }

    /// Says whether a connection is had, and with which error not.
    private static func tryConnection(_ arguments: [String]) async -> Bool {
        var credentials = EtcdCredentials.tls(
            authorityFile: text(of: "--authority", arguments),
            certificateFile: text(of: "--certificate", arguments),
            keyFile: text(of: "--key", arguments))
        if let user = text(of: "--user", arguments) {
            credentials = credentials.user(user, password: text(of: "--password", arguments) ?? "")
        }
        let target =
            arguments[1] == "etcd"
            ? SharedTarget.etcd(endpoints: [arguments[2]], credentials: credentials)
            : SharedTarget.postgres(arguments[2])
        do {
            let workspace = try await SharedWorkspace.connect(
                to: target, namespace: text(of: "--namespace", arguments) ?? "credentials",
                configuration: .init(
                    callDeadline: .seconds(value(of: "--deadline", arguments) ?? 6)))
            try await workspace.dictionary("tried").set(1, forKey: "one", expiresIn: .seconds(60))
            print("connected")
            return true
        } catch {
            print("\(error)")
            return false
        }
    }

    private static func target(_ engine: String, _ address: String) -> SharedTarget? {
        switch engine {
        case "etcd": .etcd(endpoints: address.split(separator: ",").map(String.init))
        case "postgres": .postgres(address)
        default: nil
        }
    }

    private static var namespace: String {
        "conformance-\(UInt32.random(in: 0 ... .max))"
    }

    private static func runSuite(_ target: SharedTarget, _ effort: Int) async throws -> Bool {
        let suite = ConformanceSuite.shared(
            effort: effort, namespace: namespace, connecting: target)
        let results = try await suite.run { print($0) }
        let broken = results.count { $0.failure != nil }
        print("conformance: \(results.count - broken) promises kept, \(broken) broken")
        return broken == 0
    }

    /// Rounds of histories until the time is over, each checked at its end; somebody else makes the faults.
    private static func runHistories(_ target: SharedTarget, seconds: Int) async throws -> Bool {
        let end = ContinuousClock.now + .seconds(seconds)
        var workspaces: [SharedWorkspace] = []
        let namespace = namespace
        for _ in 0..<3 {
            workspaces.append(
                try await .connect(
                    to: target, namespace: namespace,
                    configuration: .init(callDeadline: .seconds(10))))
        }
        let watched = WatchedCounter(workspaces)
        let watching = Task { try await watched.run(until: end) }
        let seed = UInt64.random(in: 0 ... .max)
        print("seed \(seed)")
        var round = 0
        var total = HistoryTally()
        while ContinuousClock.now < end {
            let length = HistoryLength(
                callCount: 400, callerCount: 6, end: min(end, .now + .seconds(20)))
            let histories = Histories(workspaces, prefix: "h\(round)", seed: seed &+ UInt64(round))
            async let lists = histories.lists(length)
            async let registers = histories.registers(length)
            async let bank = histories.bank(length)
            let tallies = try await [lists, registers, bank]
            for tally in tallies { total = total + tally }
            print("round \(round): \(tallies[0]); \(tallies[1]); \(tallies[2])")
            round += 1
        }
        print("watching: \(try await watching.value)")
        print("histories: \(round) rounds sound; \(total)")
        for workspace in workspaces { await workspace.close() }
        return true
    }
}

/// A watcher that is to be told every number that a writer was acknowledged, once and in order.
struct WatchedCounter {
    private let workspaces: [SharedWorkspace]

    init(_ workspaces: [SharedWorkspace]) { self.workspaces = workspaces }

    func run(until end: ContinuousClock.Instant) async throws -> String {
        let numbers = workspaces[0].dictionary("watched-numbers")
        let start = try await workspaces[0].revision
        let changes = workspaces[1].dictionary("watched-numbers").changes(
            as: Int.self, since: start)
        let reader = Task {
            // With `nil` where it was told that something is missing.
            var seen: [Int?] = []
            for await change in changes {
                if case .missed = change { seen.append(nil) }
                guard case .set(_, let number, _) = change else { continue }
                if number < 0 { break }
                seen.append(number)
            }
            return seen
        }
        var written: [Int] = []
        var perhaps: Set<Int> = []
        var number = 0
        while ContinuousClock.now < end {
            number += 1
            do {
                try await numbers.set(number, forKey: "n\(number % 5)")
                written.append(number)
            } catch let error as RoostError where error.code == .unknownOutcome {
                perhaps.insert(number)
            } catch let error as RoostError
                where error.code == .unavailable || error.code == .outOfSpace
            {
                // Nothing was changed.
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        while true {
            do {
                try await numbers.set(-1, forKey: "end")
                break
            } catch let error as RoostError
                where [.unavailable, .unknownOutcome, .outOfSpace].contains(error.code)
            {
                // Written twice is no harm.
            }
        }
        return try check(await reader.value, written, perhaps)
    }

    private func check(_ seen: [Int?], _ written: [Int], _ perhaps: Set<Int>) throws -> String {
        let told = seen.compactMap { $0 }
        guard Set(told).count == told.count, told == told.sorted() else {
            throw WatchFailure(description: "a change was told twice or out of order")
        }
        // What is between the last before and the first behind a gap that was told may be missing.
        var isExcused: Set<Int> = []
        for (place, number) in seen.enumerated() where number == nil {
            let before = seen[..<place].last { $0 != nil } ?? 0
            let after = seen[place...].first { $0 != nil } ?? (written.last ?? 0) + 1
            guard let before, let after, before < after else { continue }
            isExcused.formUnion(before + 1..<after)
        }
        let missing = Set(written).subtracting(told).subtracting(isExcused)
        let strange = Set(told).subtracting(written).subtracting(perhaps)
        guard missing.isEmpty, strange.isEmpty else {
            throw WatchFailure(
                description:
                    "of \(written.count) acknowledged, not told: \(missing.sorted().prefix(10)); told though refused: \(strange.sorted().prefix(10))"
            )
        }
        let gapCount = seen.count { $0 == nil }
        return
            "\(told.count) changes told, \(gapCount) times after a gap that was told, none missing or twice"
    }
}

struct WatchFailure: Error, CustomStringConvertible { let description: String }
