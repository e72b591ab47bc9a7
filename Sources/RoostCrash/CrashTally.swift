import Foundation
import Synchronization

/// What the kills showed.
struct CrashCounts: Sendable {
    var kills = 0
    var acknowledged = 0
    /// Acknowledged changes that are not there.
    var lost = 0
    /// Batches of which a part is there.
    var tornBatches = 0
    /// Values other than the newest, or that nobody wrote.
    var stale = 0
    var unexpectedErrors = 0
    /// Kills before the writer had its workspace open, and while it compacted or closed it.
    var killsWhileOpening = 0
    var killsWhileCompacting = 0
    var killsWhileClosing = 0

    var isSound: Bool { lost + tornBatches + stale + unexpectedErrors == 0 }

    /// What a run that has ended did not try; `nil` where there is nothing.
    var omission: String? {
        if kills == 0 { return "nobody was killed" }
        // Of so many some are killed while they write.
        return kills >= 20 && acknowledged == 0 ? "no write was ever acknowledged" : nil
    }

    var json: String {
        #"{"kills":\#(kills),"acknowledged":\#(acknowledged),"lost":\#(lost),"#
            + #""torn_batches":\#(tornBatches),"stale":\#(stale),"#
            + #""unexpected_errors":\#(unexpectedErrors)}"#
    }
}

/// Adds up what all supervisors find, and says when to stop.
final class CrashTally: Sendable {
    private struct State {
        var counts = CrashCounts()
        var isDone = false
    }

    private let state = Mutex(State())
    private let killLimit: Int
    private let end: ContinuousClock.Instant?

    init(killLimit: Int, seconds: Int) {
        self.killLimit = killLimit
        end = seconds == .max ? nil : .now + .seconds(seconds)
    }

    var counts: CrashCounts { state.withLock { $0.counts } }

    /// Whether to go on; also `false` once anything went wrong.
    var goesOn: Bool {
        state.withLock { state in
            if let end, ContinuousClock.now >= end { state.isDone = true }
            if state.counts.kills >= killLimit || !state.counts.isSound { state.isDone = true }
            return !state.isDone
        }
    }

    func add(_ change: (inout CrashCounts) -> Void) { state.withLock { change(&$0.counts) } }

    /// Says how far it is, on one line of a terminal, else now and then on a line of its own.
    func showProgress() async {
        let isTerminal = isatty(2) == 1
        var ticks = 0
        while goesOn {
            // Nothing cancels it.
            do { try await Task.sleep(for: .milliseconds(200)) } catch { return }
            ticks += 1
            guard ticks % (isTerminal ? 5 : 50) == 0 else { continue }
            let counts = counts
            let line =
                "\(counts.kills) kills (\(counts.killsWhileOpening) opening, "
                + "\(counts.killsWhileCompacting) compacting, \(counts.killsWhileClosing) closing), "
                + "\(counts.acknowledged) acknowledged"
            FileHandle.standardError.write(Data((isTerminal ? "\r\(line)" : "\(line)\n").utf8))
        }
        if isTerminal { FileHandle.standardError.write(Data("\n".utf8)) }
    }
}
