import Roost

extension ConformanceCheck {
    /// What time does to values.
    static var expiryChecks: [ConformanceCheck] {
        [
            ConformanceCheck(
                "a value that expires is not seen after its time, and a later one stays"
            ) {
                context in
                let values = context.dictionary("expiry")
                try await values.set(1, forKey: "short", expiresIn: .milliseconds(300))
                try await values.set(1, forKey: "kept", expiresIn: .milliseconds(300))
                try await values.set(1, forKey: "long", expiresIn: .seconds(3600))
                try await values.set(2, forKey: "kept")
                try requireEqual(try await values.load("long", as: Int.self), 1, "long")
                try await Task.sleep(for: .milliseconds(320))
                try requireEqual(try await values.load("short", as: Int.self), nil, "short")
                try requireEqual(try await values.contains("short"), false, "contains short")
                let keys = try await values.keys().collected()
                try requireEqual(keys, ["kept", "long"], "the keys")
                try requireEqual(try await values.count, 2, "the count")
                try requireEqual(try await values.load("kept", as: Int.self), 2, "kept")
                try await values.update("short", default: 5) { $0 += 1 }
                try requireEqual(try await values.load("short", as: Int.self), 6, "short, anew")
            },
            ConformanceCheck(
                "an entry that is replaced for a time is a lease: had by one, and by another after it"
            ) { context in
                let leases = context.dictionary("leases")
                let free = try await leases.loadEntry("leader", as: String.self)
                let first = try await leases.replace(free, with: "a", expiresIn: .seconds(3600))
                try await requireError(.conflict, "taking one that somebody has") {
                    try await leases.replace(free, with: "b", expiresIn: .seconds(3600))
                }
                try requireEqual(
                    try await leases.load("leader", as: String.self), "a", "who has the lease")
                let renewed = try await leases.replace(
                    first, with: "a", expiresIn: .milliseconds(300))
                try await Task.sleep(for: .milliseconds(320))
                let over = try await leases.loadEntry("leader", as: String.self)
                try requireEqual(over.value, nil, "who has the lease after its time")
                let second = try await leases.replace(over, with: "b")
                try require(second.version > renewed.version, "the token does not grow")
                try await requireError(.conflict, "renewing one that another has") {
                    try await leases.replace(renewed, with: "a", expiresIn: .seconds(3600))
                }
                try requireEqual(
                    try await leases.load("leader", as: String.self), "b", "who has it for good")
            },
            ConformanceCheck("a value tells how long it is there yet, and so does its entry") {
                context in
                let values = context.dictionary("remaining")
                try await values.set(1, forKey: "hour", expiresIn: .seconds(3600))
                try await values.set(1, forKey: "stays")
                try await values.set(1, forKey: "gone", expiresIn: .zero)
                for key in ["stays", "gone", "never was"] {
                    try requireEqual(try await values.remainingTime(forKey: key), nil, key)
                    let entry = try await values.loadEntry(key, as: Int.self)
                    try requireEqual(values.remainingTime(of: entry), nil, "the entry of \(key)")
                }
                let entry = try await values.loadEntry("hour", as: Int.self)
                let renewed = try await values.replace(entry, with: 2, expiresIn: .seconds(60))
                let left = [
                    (values.remainingTime(of: entry), 3600),
                    (values.remainingTime(of: renewed), 60),
                    (try await values.remainingTime(forKey: "hour"), 60),
                ]
                for (found, seconds) in left {
                    guard let found else { throw ConformanceFailure("no time of \(seconds) s") }
                    let isRight = found <= .seconds(seconds) && found > .seconds(seconds - 30)
                    try require(isRight, "\(found) of \(seconds) s")
                }
                let kept = try await values.replace(renewed, with: 3)
                try requireEqual(values.remainingTime(of: kept), nil, "one that stays again")
                try requireEqual(
                    try await values.remainingTime(forKey: "hour"), nil, "what stays again")
            },
            ConformanceCheck("a value that expires after the longest time stays") { context in
                let values = context.dictionary("far")
                let ages: [Duration] = [
                    .seconds(8_000_000_000), .seconds(9_000_000_001), .seconds(1 << 45),
                    .seconds(Int64.max),
                ]
                for (number, age) in ages.enumerated() {
                    try await values.set(number, forKey: "far\(number)", expiresIn: age)
                }
                for number in ages.indices {
                    try requireEqual(
                        try await values.load("far\(number)", as: Int.self), number,
                        "what expires after \(ages[number])")
                }
            },
            ConformanceCheck("what is written anew as it expires stays") { context in
                let tasks = max(2, min(8, context.workspaces.count * 4))
                let rounds = 4 + 8 * context.effort
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for task in 0..<tasks {
                        let values = context.dictionary("renewed", of: task)
                        group.addTask { try await renew(in: values, of: task, rounds) }
                    }
                    try await group.waitForAll()
                }
            },
        ]
    }

    /// Values that have expired are there to be removed while they are written anew, one after another.
    private static func renew(
        in values: Workspace.NamedDictionary, of task: Int, _ rounds: Int
    ) async throws {
        for round in 0..<rounds {
            let keys = (0..<40).map { "\(task)-\(round)-\($0)" }
            for key in keys { try await values.set(0, forKey: key, expiresIn: .milliseconds(50)) }
            try await Task.sleep(for: .milliseconds(60))
            for key in keys { try await values.set(1, forKey: key) }
            for key in keys {
                try requireEqual(try await values.load(key, as: Int.self), 1, "\(key), anew")
            }
        }
    }
}
