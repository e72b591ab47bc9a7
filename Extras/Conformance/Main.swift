import Foundation
import RoostConformance
import RoostEtcd
import RoostPostgres
import RoostShared

/// Runs the conformance suite, or histories while faults go on, over real servers:
///
///     roost-conformance suite etcd http://127.0.0.1:2379,…
///     roost-conformance suite postgres postgres://…
///     roost-conformance histories etcd http://… --seconds 60 --ready FILE
///     roost-conformance removals etcd http://127.0.0.1:2379
///     roost-conformance speed etcd http://127.0.0.1:2379 --seconds 5
///     roost-conformance connect etcd https://… --authority FILE --user NAME --password WORD
@main struct Main {
    static func main() async {
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            guard arguments.count >= 3, let target = target(arguments) else { throw Usage() }
            let isGood =
                switch arguments[0] {
                case "suite":
                    try await runSuite(
                        target, text(of: "--namespace", arguments) ?? namespace,
                        value(of: "--effort", arguments) ?? 1,
                        stopsAtFailure: arguments.contains("--stop-at-failure"))
                case "histories":
                    try await runHistories(
                        target, arguments, seconds: value(of: "--seconds", arguments) ?? 30)
                case "append": try await append(target, arguments)
                case "removals": try await runRemovals(target, arguments)
                case "speed":
                    try await runSpeed(
                        target, seconds: value(of: "--seconds", arguments) ?? 5,
                        isOneCall: arguments.contains("--one"))
                case "connect": await tryConnection(target, arguments)
                default: throw Usage()
                }
            end(isGood ? 0 : 1)
        } catch {
            print("\(error)")
            end(1)
        }
    }

    /// What was printed is out before anything is torn down, beside threads that go on.
    private static func end(_ status: Int32) -> Never {
        fflush(nil)
        exit(status)
    }

    private struct Usage: Error, CustomStringConvertible {
        let description =
            "usage: roost-conformance suite|histories|removals|speed|connect etcd|postgres URL[,URL…] [--effort N] [--seconds N]"
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

    /// Says whether a connection is had, and with which error not: in every form in which one may be logged.
    private static func tryConnection(_ target: SharedTarget, _ arguments: [String]) async -> Bool {
        do {
            let workspace = try await SharedWorkspace.connect(
                to: target, namespace: text(of: "--namespace", arguments) ?? "credentials",
                configuration: .init(
                    callDeadline: .seconds(value(of: "--deadline", arguments) ?? 6)))
            try await workspace.dictionary("tried").set(1, forKey: "one", expiresIn: .seconds(60))
            print("connected")
            dump(workspace)
            return true
        } catch {
            print("\(error)")
            debugPrint(error)
            dump(error)
            return false
        }
    }

    private static func target(_ arguments: [String]) -> SharedTarget? {
        let address = arguments[2]
        switch arguments[1] {
        case "etcd":
            var credentials = EtcdCredentials.tls(
                authorityFile: text(of: "--authority", arguments),
                certificateFile: text(of: "--certificate", arguments),
                keyFile: text(of: "--key", arguments))
            if let user = text(of: "--user", arguments) {
                credentials = credentials.user(
                    user, password: text(of: "--password", arguments) ?? "")
            }
            return .etcd(
                endpoints: address.split(separator: ",").map(String.init), credentials: credentials)
        case "postgres": return .postgres(address)
        default: return nil
        }
    }

    private static var namespace: String {
        "conformance-\(UInt32.random(in: 0 ... .max))"
    }

    private static func runSuite(
        _ target: SharedTarget, _ namespace: String, _ effort: Int, stopsAtFailure: Bool
    ) async throws -> Bool {
        let suite = ConformanceSuite.shared(
            effort: effort, namespace: namespace, connecting: target)
        let results = try await suite.run(stopsAtFailure: stopsAtFailure) { print($0) }
        let broken = results.count { $0.failure != nil }
        print("conformance: \(results.count - broken) promises kept, \(broken) broken")
        return broken == 0
    }

    private static func runRemovals(
        _ target: SharedTarget, _ arguments: [String]
    ) async throws -> Bool {
        let workspace = try await SharedWorkspace.connect(
            to: target, namespace: namespace,
            configuration: .init(callDeadline: .seconds(60)))
        let removals = CompactedRemovals(workspace, arguments[1], arguments[2])
        print("removals: \(try await removals.run())")
        await workspace.close()
        return true
    }

    /// - Parameter isOneCall: One set and one load alone, for a look at the server's log.
    private static func runSpeed(
        _ target: SharedTarget, seconds: Int, isOneCall: Bool
    ) async throws -> Bool {
        let workspace = try await SharedWorkspace.connect(to: target, namespace: namespace)
        let speed = Speed(workspace: workspace, seconds: Double(seconds))
        if isOneCall { try await speed.runOneCall() } else { try await speed.run() }
        await workspace.close()
        return true
    }

    /// What `histories` starts, to kill it.
    private static func append(_ target: SharedTarget, _ arguments: [String]) async throws -> Bool {
        guard let namespace = text(of: "--namespace", arguments),
            let dictionary = text(of: "--dictionary", arguments),
            let first = value(of: "--first", arguments)
        else { throw Usage() }
        let workspace = try await SharedWorkspace.connect(to: target, namespace: namespace)
        try await KilledClients.append(to: workspace, dictionary, first: first)
        return true
    }

    /// Rounds of histories until the time is over, each checked at its end; somebody else makes the faults, once the file
    /// of `--ready` is there, and ends with them a while before. What was without any answer until then goes on behind them.
    private static func runHistories(
        _ target: SharedTarget, _ arguments: [String], seconds: Int
    ) async throws -> Bool {
        let workspaces = try await connections(target)
        let end = ContinuousClock.now + .seconds(seconds)
        let last = end + .seconds(120)
        if let path = text(of: "--ready", arguments) {
            try Data().write(to: URL(fileURLWithPath: path))
        }
        let watched = WatchedCounter(workspaces)
        let watching = Task { try await watched.run(until: end, orUntil: last) }
        let killed = KilledClients(workspaces[2], arguments[1], arguments[2])
        let killing = Task { try await killed.run(until: end, orUntil: last) }
        let seed = UInt64.random(in: 0 ... .max)
        print("seed \(seed)")
        var round = 0
        var total = HistoryTally()
        while ContinuousClock.now < (total.committed > 0 ? end : last) {
            let now = ContinuousClock.now
            let length = HistoryLength(
                callCount: 400, callerCount: 6,
                end: min(now < end ? end : last, now + .seconds(20)))
            let histories = Histories(workspaces, prefix: "h\(round)", seed: seed &+ UInt64(round))
            async let lists = histories.lists(length)
            async let registers = histories.registers(length)
            async let bank = histories.bank(length)
            let tallies = try await [lists, registers, bank]
            for tally in tallies { total = total + tally }
            print("round \(round): \(tallies[0]); \(tallies[1]); \(tallies[2])")
            // Who follows a long run in a file sees each round as it ends.
            fflush(nil)
            round += 1
        }
        print("watching: \(try await watching.value)")
        print("killing: \(try await killing.value)")
        print("histories: \(round) rounds sound; \(total)")
        for workspace in workspaces { await workspace.close() }
        // Nothing is explained by any order.
        return total.committed > 0
    }

    /// Of one namespace. A slow machine takes its time until it is connected, and each call has 10 seconds from then on.
    private static func connections(_ target: SharedTarget) async throws -> [SharedWorkspace] {
        let namespace = namespace
        var workspaces: [SharedWorkspace] = []
        for _ in 0..<3 {
            let workspace = try await SharedWorkspace.connect(
                to: target, namespace: namespace,
                configuration: .init(callDeadline: .seconds(60)))
            workspaces.append(workspace.withCallDeadline(.seconds(10)))
        }
        return workspaces
    }
}
