import Roost
import RoostShared

/// A watcher that is to be told every number that a writer set and every key that it removed, once and in order.
struct WatchedCounter {
    private let workspaces: [SharedWorkspace]

    init(_ workspaces: [SharedWorkspace]) { self.workspaces = workspaces }

    /// - Parameter last: until when it goes on where no change was acknowledged until `end`.
    func run(
        until end: ContinuousClock.Instant, orUntil last: ContinuousClock.Instant
    ) async throws -> String {
        let numbers = workspaces[0].dictionary("watched-numbers")
        // Faults may have begun.
        let start = try await workspaces[0].withCallDeadline(.seconds(60)).revision
        let changes = workspaces[1].dictionary("watched-numbers").changes(
            as: Int.self, since: start)
        let reader = Task {
            // With `nil` where it was told that something is missing.
            var seen: [Int?] = []
            for await change in changes {
                switch change {
                case .missed: seen.append(nil)
                case .set(_, let number, _):
                    if number < 0 { return seen }
                    seen.append(Self.setting(number))
                case .removed(let key, _):
                    if let number = Int(key.dropFirst()) { seen.append(Self.removing(number)) }
                default: break
                }
            }
            return seen
        }
        var calls = Calls()
        var number = 0
        while ContinuousClock.now < (calls.written.isEmpty ? last : end) {
            number += 1
            let key = "n\(number)"
            // What may not be there may be removed without a change.
            let isThere = try await calls.make(Self.setting(number)) {
                try await numbers.set(number, forKey: key)
            }
            try await calls.make(Self.removing(number), isCertain: isThere) {
                try await numbers.removeValue(forKey: key)
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
        return try check(await reader.value, calls.written, calls.perhaps)
    }

    /// Changes count up: a number is set, and its key removed.
    private static func setting(_ number: Int) -> Int { number * 2 }
    private static func removing(_ number: Int) -> Int { number * 2 + 1 }

    /// What was acknowledged, in order, and what was perhaps made.
    private struct Calls {
        var written: [Int] = []
        var perhaps: Set<Int> = []

        /// - Returns: whether the call was acknowledged.
        @discardableResult
        mutating func make(
            _ change: Int, isCertain: Bool = true, _ call: () async throws -> Void
        ) async throws -> Bool {
            do {
                try await call()
                if isCertain { written.append(change) } else { perhaps.insert(change) }
                return true
            } catch let error as RoostError where error.code == .unknownOutcome {
                perhaps.insert(change)
            } catch let error as RoostError
                where error.code == .unavailable || error.code == .outOfSpace
            {
                // Nothing was changed.
            }
            return false
        }
    }

    private func check(_ seen: [Int?], _ written: [Int], _ perhaps: Set<Int>) throws -> String {
        let told = seen.compactMap { $0 }
        guard !told.isEmpty, !written.isEmpty else {
            throw WatchFailure(
                description: "\(written.count) changes were acknowledged, and \(told.count) told")
        }
        guard Set(told).count == told.count, told == told.sorted() else {
            throw WatchFailure(description: "a change was told twice or out of order")
        }
        // What is between the last before and the first after a gap that was told may be missing.
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
