import Foundation
import Roost
import RoostIO

struct SampleRecord: Codable, Equatable, Sendable {
    var name: String
    var count: Int
    var tags: [String]
    var inner: [String: Double]
}

extension Key where Value == Int {
    fileprivate static var counter: Self { .init("counter", default: 7) }
}

extension Key where Value == String? {
    fileprivate static var nickname: Self { .init("nickname") }
}

private struct Refused: Error {}

extension ConformanceCheck {
    /// What a dictionary does, one call after another.
    static var dictionaryChecks: [ConformanceCheck] {
        [
            ConformanceCheck("values of every kind come back as they were set") { context in
                let values = context.dictionary("kinds")
                let record = SampleRecord(
                    name: "ä/é", count: -3, tags: ["", "\0"], inner: ["x": .infinity])
                try await values.set(record, forKey: "record")
                try await values.set(-5, forKey: "int")
                try await values.set(Data([0, 255]), forKey: "data")
                try await values.set([UInt8](repeating: 7, count: 100_000), forKey: "bytes")
                try await values.set("", forKey: "text")
                try await values.set(true, forKey: "")
                try requireEqual(
                    try await values.load("record", as: SampleRecord.self), record, "record")
                try requireEqual(try await values.load("int", as: Int.self), -5, "int")
                try requireEqual(
                    try await values.load("data", as: Data.self), Data([0, 255]), "data")
                try requireEqual(
                    try await values.load("bytes", as: [UInt8].self)?.count, 100_000, "bytes")
                try requireEqual(try await values.load("text", as: String.self), "", "text")
                try requireEqual(try await values.load("", as: Bool.self), true, "the empty key")
                try await requireError(.typeMismatch, "another type") {
                    _ = try await values.load("int", as: String.self)
                }
            },
            ConformanceCheck("keys are bytes: odd ones are keys of their own") { context in
                let values = context.dictionary("odd/%2F")
                let other = context.dictionary("odd")
                let keys = [
                    "a", "a/", "a/b", "%", "%2F", "\u{e9}", "e\u{301}", "\0", "a\0b", "/", "",
                ]
                for (number, key) in keys.enumerated() {
                    try await values.set(number, forKey: key)
                }
                for (number, key) in keys.enumerated() {
                    try requireEqual(
                        try await values.load(key, as: Int.self), number, "\"\(key)\"")
                }
                try requireEqual(try await values.count, keys.count, "the count")
                try requireEqual(try await other.count, 0, "the other dictionary's count")
                let found = try await values.keys().collected()
                let expected = keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
                try require(
                    found.map { Array($0.utf8) } == expected.map { Array($0.utf8) },
                    "keys are \(found), not \(expected)")
            },
            ConformanceCheck("what is removed is gone, and alone") { context in
                let values = context.dictionary("removed")
                let kept = context.dictionary("removed-not")
                try await kept.set(1, forKey: "x")
                try await values.setAll((0..<50).map { ("k\($0)", $0) })
                try await values.removeValue(forKey: "k7")
                try await values.removeValue(forKey: "never there")
                try requireEqual(try await values.contains("k7"), false, "contains k7")
                try requireEqual(try await values.contains("k8"), true, "contains k8")
                try requireEqual(try await values.count, 49, "the count")
                try await values.removeAll()
                try requireEqual(try await values.count, 0, "the count")
                try requireEqual(try await kept.load("x", as: Int.self), 1, "the other's value")
            },
            ConformanceCheck("what begins alike is counted and removed at once, and alone") {
                context in
                try await removeByPrefixes(context)
            },
            ConformanceCheck("typed keys have their defaults, and optional ones go by nil") {
                context in
                let values = context.dictionary("typed")
                try requireEqual(try await values.load(.counter), 7, "the default")
                try await values.update(.counter) { $0 += 1 }
                try requireEqual(try await values.load(.counter), 8, "the counter")
                try await values.set("ada", for: .nickname)
                try requireEqual(try await values.load(.nickname), "ada", "the name")
                try await values.set(nil, for: .nickname)
                try requireEqual(try await values.contains("nickname"), false, "contains")
            },
            ConformanceCheck("scans go by prefix, range, order and limit") { context in
                let values = context.dictionary("scans")
                let numbers = 0..<90
                try await values.setAll(numbers.map { (String(format: "k%03d", $0), $0) })
                let up = try await values.entries(in: "k010"..<"k020", as: Int.self).collected()
                try requireEqual(up.map(\.value), Array(10..<20), "the range")
                let down = try await values.entries(
                    prefix: "k0", as: Int.self, limit: 5, order: .descending
                ).collected()
                try requireEqual(down.map(\.value), [89, 88, 87, 86, 85], "the last five")
                let keys = try await values.keys(in: "k085"...).collected()
                try requireEqual(keys, (85..<90).map { "k0\($0)" }, "the last keys")
                let none = try await values.keys(prefix: "z").collected()
                try requireEqual(none, [], "no keys")
                let all = try await values.entries(as: Int.self).collected()
                try requireEqual(all.map(\.value), Array(numbers), "all")
                let back = try await values.entries(as: Int.self, order: .descending).collected()
                try requireEqual(back.map(\.value), numbers.reversed(), "all, from the last on")
                let keysBack = try await values.keys(order: .descending).collected()
                try requireEqual(
                    keysBack, back.map(\.key), "all keys, from the last on")
            },
            ConformanceCheck("an entry is replaced only while it has its version") { context in
                let values = context.dictionary("entries")
                let absent = try await values.loadEntry("a", as: Int.self)
                let first = try await values.replace(absent, with: 1)
                try await requireError(.conflict, "replacing one that was absent") {
                    try await values.replace(absent, with: 2)
                }
                let second = try await values.replace(first, with: 2)
                try require(second.version > first.version, "versions do not grow")
                let read = try await values.loadEntry("a", as: Int.self)
                try requireEqual(read.version, second.version, "the version")
                try await values.set(3, forKey: "a")
                try await requireError(.conflict, "replacing an older version") {
                    try await values.replace(second, with: 4)
                }
                try requireEqual(try await values.load("a", as: Int.self), 3, "the value")
                try await values.removeValue(forKey: "a")
                try await requireError(.conflict, "replacing what was removed") {
                    try await values.replace(read, with: 5)
                }
            },
        ]
    }

    private static func removeByPrefixes(_ context: ConformanceContext<Workspace>) async throws {
        let values = context.dictionary("prefixes")
        try await values.setAll((0..<75).map { ("eu/\($0 / 15)/\($0 % 15)", $0) })
        // More than engines take as operations of their own.
        for piece in 0..<4 {
            try await values.setAll((0..<50).map { ("eu/5/\(piece * 50 + $0)", $0) })
        }
        let others = ["eu", "eu0", "ev/1", "", "caf\u{e9}", "cafe\u{301}"]
        try await values.setAll(others.map { ($0, -1) })
        try requireEqual(try await values.count(prefix: "eu/"), 275, "the count of a prefix")
        try requireEqual(try await values.count(prefix: "cafe"), 1, "the count by bytes")
        try await values.removeAll(prefix: "eu/5")
        try requireEqual(try await values.count, 75 + others.count, "the count")
        let counts = try await context.workspace.transaction { attempt in
            try attempt.set(1, forKey: "eu/0/x", in: values)
            try attempt.removeAll(prefix: "eu/0/", in: values)
            let gone = try await attempt.count(of: values, prefix: "eu/0")
            try attempt.set(2, forKey: "eu/0/y", in: values)
            // One that has both the others in it.
            try attempt.removeAll(prefix: "eu/1/1", in: values)
            try attempt.removeAll(prefix: "eu/1", in: values)
            try attempt.set(3, forKey: "eu/1/z", in: values)
            return [
                gone, try await attempt.count(of: values, prefix: "eu/0"),
                try await attempt.count(of: values),
            ]
        }
        try requireEqual(counts, [0, 1, 47 + others.count], "counts in a transaction")
        try requireEqual(try await values.load("eu/0/y", as: Int.self), 2, "what was set behind it")
        try requireEqual(try await values.load("eu/1/z", as: Int.self), 3, "what was set last")
        try await context.workspace.write { batch in
            batch.set(4, forKey: "eu/new", in: values)
            batch.removeAll(prefix: "eu/", in: values)
        }
        let left = try await values.keys().collected()
        let expected = (others + ["eu/new"]).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        try require(
            left.map { Array($0.utf8) } == expected.map { Array($0.utf8) },
            "keys are \(left), not \(expected)")
        try await values.removeAll(prefix: "")
        try requireEqual(try await values.count, 0, "the count of what is left")
    }

    /// What transactions and several callers do.
    static var transactionChecks: [ConformanceCheck] {
        [
            ConformanceCheck(
                "a transaction reads its own writes, and leaves nothing where it throws"
            ) {
                context in
                let values = context.dictionary("transaction")
                try await values.setAll([("a", 1), ("b", 2), ("c", 3)])
                let left = try await context.workspace.transaction { attempt in
                    try attempt.set(10, forKey: "a", in: values)
                    try attempt.removeValue(forKey: "b", in: values)
                    try attempt.set(4, forKey: "d", in: values)
                    try requireEqual(
                        try await attempt.load("a", as: Int.self, in: values), 10, "a, within")
                    try requireEqual(
                        try await attempt.contains("b", in: values), false, "b, within")
                    try requireEqual(
                        try await attempt.keys(of: values), ["a", "c", "d"], "the keys, within")
                    try requireEqual(
                        try await attempt.keys(of: values, limit: 2, order: .descending),
                        ["d", "c"],
                        "the last keys, within")
                    return try await attempt.count(of: values)
                }
                try requireEqual(left, 3, "the count, within")
                do {
                    try await context.workspace.transaction { attempt in
                        try attempt.removeAll(in: values)
                        try attempt.set(1, forKey: "z", in: values)
                        try requireEqual(
                            try await attempt.keys(of: values), ["z"], "the keys after a removal")
                        throw Refused()
                    }
                } catch is Refused {}
                try requireEqual(
                    try await values.keys().collected(), ["a", "c", "d"], "the keys afterwards")
                try await context.workspace.transaction { attempt in
                    try attempt.removeAll(in: values)
                    try attempt.set(9, forKey: "c", in: values)
                }
                let all = try await values.entries(as: Int.self).collected()
                try requireEqual(all.map(\.key), ["c"], "the keys after a removal of all")
                try requireEqual(all.map(\.value), [9], "the value after a removal of all")
            },
            ConformanceCheck("what a transaction sets for a time is gone after it") { context in
                let values = context.dictionary("transaction-expiry")
                try await values.set(1, forKey: "kept", expiresIn: .seconds(3600))
                try await context.workspace.transaction { attempt in
                    try attempt.set(1, forKey: "long", in: values, expiresIn: .seconds(3600))
                    try attempt.set(2, forKey: "kept", in: values)
                    try attempt.set(1, forKey: "never", in: values, expiresIn: .zero)
                    try requireEqual(
                        try await attempt.load("never", as: Int.self, in: values), nil,
                        "what has expired, within")
                    try requireEqual(
                        try await attempt.keys(of: values), ["kept", "long"], "the keys, within")
                    try attempt.set(1, forKey: "short", in: values, expiresIn: .milliseconds(300))
                    try attempt.set(8, for: .counter, in: values, expiresIn: .milliseconds(300))
                }
                try requireEqual(try await values.contains("never"), false, "contains never")
                try await Task.sleep(for: .milliseconds(320))
                try requireEqual(
                    try await values.keys().collected(), ["kept", "long"], "the keys afterwards")
                try requireEqual(try await values.load(.counter), 7, "the counter")
                try requireEqual(try await values.load("kept", as: Int.self), 2, "kept")
            },
            ConformanceCheck("a key that comes into a range that was read is a conflict") {
                context in
                let leaders = "leaders"
                let won = try await withThrowingTaskGroup(of: Bool.self, returning: Int.self) {
                    group in
                    for name in 0..<12 {
                        group.addTask {
                            let leaders = context.dictionary(leaders, of: name)
                            let workspace = context.workspaces[name % context.workspaces.count]
                            return try await workspace.transaction { attempt in
                                let found = try await attempt.keys(
                                    of: leaders, prefix: "l", limit: 1)
                                guard found.isEmpty else { return false }
                                try attempt.set(true, forKey: "l\(name)", in: leaders)
                                return true
                            }
                        }
                    }
                    return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
                try requireEqual(won, 1, "the number of leaders")
                try requireEqual(try await context.dictionary(leaders).count, 1, "their count")
            },
            ConformanceCheck("two that each read what the other writes do not both succeed unseen")
            {
                context in
                // Write skew: at least one is to stay on call.
                for round in 0..<(5 * context.effort) {
                    let name = "on-call-\(round)"
                    try await context.dictionary(name).setAll([("a", true), ("b", true)])
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for (index, own) in ["a", "b"].enumerated() {
                            group.addTask {
                                let doctors = context.dictionary(name, of: index)
                                let workspace = context.workspaces[
                                    index % context.workspaces.count]
                                try await workspace.transaction { attempt in
                                    let other = own == "a" ? "b" : "a"
                                    let isCovered =
                                        try await attempt.load(other, as: Bool.self, in: doctors)
                                        ?? false
                                    if isCovered {
                                        try attempt.set(false, forKey: own, in: doctors)
                                    }
                                }
                            }
                        }
                        try await group.waitForAll()
                    }
                    let left = try await context.dictionary(name).entries(as: Bool.self).collected()
                    try requireEqual(left.count { $0.value }, 1, "the number on call")
                }
            },
            ConformanceCheck("many updates of one counter all count, and all make progress") {
                context in
                let count = 100 * context.effort
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<count {
                        group.addTask {
                            try await context.dictionary("counter", of: number)
                                .update("n", default: 0) { $0 += 1 }
                        }
                    }
                    try await group.waitForAll()
                }
                try requireEqual(
                    try await context.dictionary("counter").load("n", as: Int.self), count,
                    "the counter")
            },
            ConformanceCheck("a cancelled call throws .cancelled and changes nothing") { context in
                let values = context.dictionary("cancelled")
                let task = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    try await values.set(1, forKey: "a")
                }
                try await requireError(.cancelled, "a cancelled set") { try await task.value }
                try requireEqual(try await values.contains("a"), false, "contains a")
            },
        ]
    }
}
