import Foundation
import RoostConformance
import RoostShared
import Synchronization

/// Processes that append to lists in transactions, each killed in the middle of its calls.
///
/// Nobody asks any more what became of the call that was under way: it has to have been made whole or not at all, as
/// `ListChecker` finds out with those that were answered.
final class KilledClients: Sendable {
    /// What a client says of a call, a line each: before it, and once it has its answer.
    struct Said: Codable {
        var number: Int
        var instant: ContinuousClock.Instant
        var appends: [String: Int]
        var reads: [String: [Int]]?
        /// `nil` before the call.
        var outcome: String?
    }

    private static let keys = (0..<5).map { "list\($0)" }
    private static let clientCount = 2

    let workspace: SharedWorkspace
    let engine: String
    let address: String
    private let tally = Mutex(Tally())

    private struct Tally {
        var killed = 0
        var answered = 0
        var unanswered = 0
        var made = 0
        var rounds = 0

        /// Whether it says anything of clients that are killed.
        var isEnough: Bool { killed > 0 && answered > 0 }

        /// The most that the next client lives. On a slow machine none gets as far as to a call in the usual time.
        var longestMilliseconds: Int { answered > 0 ? 2500 : 2500 * (1 + killed / 4) }
    }

    init(_ workspace: SharedWorkspace, _ engine: String, _ address: String) {
        self.workspace = workspace
        self.engine = engine
        self.address = address
    }

    // MARK: The one that kills

    /// Rounds of some seconds until the time is over, each with lists of its own, which are checked at its end. They go on
    /// until `last`, without faults, where no call was answered before.
    ///
    /// - Throws: `KilledClientsFailure`.
    func run(
        until end: ContinuousClock.Instant, orUntil last: ContinuousClock.Instant
    ) async throws -> String {
        while ContinuousClock.now < (tally.withLock { $0.isEnough } ? end : last) {
            let round = tally.withLock { tally in
                defer { tally.rounds += 1 }
                return tally.rounds
            }
            let now = ContinuousClock.now
            let roundEnd = min(now < end ? end : last, now + .seconds(15))
            let calls = try await withThrowingTaskGroup(of: [ListCall].self) { group in
                for client in 0..<Self.clientCount {
                    group.addTask {
                        try await self.killAgainAndAgain(client, round, until: roundEnd)
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            try await check(calls, round)
        }
        let tally = tally.withLock { $0 }
        guard tally.isEnough else {
            throw KilledClientsFailure(
                "\(tally.killed) clients were killed, and \(tally.answered) calls answered")
        }
        return
            "\(tally.killed) clients killed in \(tally.rounds) rounds, \(tally.answered) calls answered, \(tally.unanswered) not, of which \(tally.made) were made; none by half, none gone"
    }

    private func killAgainAndAgain(
        _ client: Int, _ round: Int, until end: ContinuousClock.Instant
    ) async throws -> [ListCall] {
        var calls: [ListCall] = []
        var life = 0
        while ContinuousClock.now < end {
            life += 1
            let id = (round * Self.clientCount + client) << 40 | life << 20
            calls += try await killOnce(id, dictionary(round))
        }
        return calls
    }

    private func dictionary(_ round: Int) -> String { "killed-\(round)" }

    /// Starts a client, lets it work for a while, and kills it.
    private func killOnce(_ id: Int, _ dictionary: String) async throws -> [ListCall] {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(
            "roost-killed-\(ProcessInfo.processInfo.processIdentifier)-\(id)")
        guard FileManager.default.createFile(atPath: file.path, contents: nil) else {
            throw KilledClientsFailure("no file at \(file.path)")
        }
        defer { unlink(file.path) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [
            "append", engine, address, "--namespace", workspace.namespace, "--dictionary",
            dictionary, "--first", String(id),
        ]
        process.standardOutput = try FileHandle(forWritingTo: file)
        try process.run()
        // Most of them in the middle of a call, some while they connect.
        let longest = tally.withLock { $0.longestMilliseconds }
        try await Task.sleep(for: .milliseconds(Int.random(in: 50..<longest)))
        let wasRunning = process.isRunning
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        let lines = try Data(contentsOf: file).split(separator: UInt8(ascii: "\n"))
        guard wasRunning || !lines.isEmpty else {
            throw KilledClientsFailure(
                "a client ended with \(process.terminationStatus), and said nothing")
        }
        let calls = try Self.calls(id, lines.map { Data($0) }, wasKilled: wasRunning)
        tally.withLock { tally in
            if wasRunning { tally.killed += 1 }
            tally.answered += calls.count { $0.returned != nil }
            tally.unanswered += calls.count { $0.returned == nil }
        }
        return calls
    }

    /// The calls that a client's lines tell of. The last line of one that was killed may be cut off, and of one that
    /// could not connect is why.
    private static func calls(
        _ first: Int, _ lines: [Data], wasKilled: Bool
    ) throws -> [ListCall] {
        var calls: [ListCall] = []
        for (place, line) in lines.enumerated() {
            let said: Said
            do { said = try JSONDecoder().decode(Said.self, from: line) } catch {
                let text = String(decoding: line, as: UTF8.self)
                if place == lines.count - 1, wasKilled || isExpected(text) { break }
                throw KilledClientsFailure("a client said: \(text)")
            }
            guard let outcome = said.outcome else {
                var call = ListCall(id: first + said.number, invoked: said.instant)
                call.appends = said.appends
                calls.append(call)
                continue
            }
            let last = calls.count - 1
            calls[last].reads = said.reads ?? [:]
            calls[last].returned = outcome == "unknown" ? nil : said.instant
            calls[last].outcome =
                switch outcome {
                case "committed": .committed
                case "refused": .refused
                default: .unknown
                }
        }
        return calls
    }

    private static func isExpected(_ text: String) -> Bool {
        ["unavailable", "unknownOutcome", "outOfSpace"].contains { text.hasPrefix($0) }
    }

    private func check(_ calls: [ListCall], _ round: Int) async throws {
        let lists = workspace.dictionary(dictionary(round))
        // Of one revision: what a killed client has sent may still come.
        var final: [String: [Int]] = [:]
        for attempt in 0... {
            do {
                final = [:]
                for try await (key, value) in lists.entries(as: [Int].self) { final[key] = value }
                break
            } catch let error as RoostError where error.code == .unavailable && attempt < 60 {
                try await Task.sleep(for: .milliseconds(500))
            }
        }
        if let violation = ListChecker.violation(in: calls, final: final) {
            throw KilledClientsFailure("round \(round) of killed clients: \(violation)")
        }
        let made = Set(final.values.joined())
        let madeCount = calls.count { call in
            call.returned == nil && call.appends.values.contains { made.contains($0) }
        }
        tally.withLock { $0.made += madeCount }
    }

    // MARK: The one that is killed

    /// Appends until it is killed, and says so.
    static func append(to workspace: SharedWorkspace, _ dictionary: String, first: Int) async throws
    {
        let lists = workspace.dictionary(dictionary)
        for number in 0..<(1 << 20) {
            let chosen = keys.shuffled().prefix(Int.random(in: 1...3))
            let id = first + number
            let appends = Dictionary(uniqueKeysWithValues: chosen.map { ($0, id) })
            try say(Said(number: number, instant: .now, appends: appends))
            var answer = Said(number: number, instant: .now, appends: appends)
            do {
                answer.reads = try await workspace.transaction { attempt in
                    var reads: [String: [Int]] = [:]
                    for key in chosen {
                        let list = try await attempt.load(key, as: [Int].self, in: lists) ?? []
                        reads[key] = list
                        try attempt.set(list + [id], forKey: key, in: lists)
                    }
                    return reads
                }
                answer.outcome = "committed"
            } catch let error as RoostError {
                switch error.code {
                case .unavailable, .conflict, .outOfSpace: answer.outcome = "refused"
                case .unknownOutcome: answer.outcome = "unknown"
                default: throw error
                }
            }
            answer.instant = .now
            try say(answer)
        }
    }

    private static func say(_ said: Said) throws {
        let line = try JSONEncoder().encode(said) + [UInt8(ascii: "\n")]
        try FileHandle.standardOutput.write(contentsOf: line)
    }
}

struct KilledClientsFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
