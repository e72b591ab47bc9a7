import Roost
import RoostIO
import RoostShared

extension ConformanceCheck {
    /// What watchers are told.
    static var watchChecks: [ConformanceCheck] {
        [
            ConformanceCheck("a watcher is told every change once, in order, and of its keys alone")
            {
                context in
                let values = context.dictionary("watched")
                let other = context.dictionary("watched-not")
                try await values.set(0, forKey: "begin")
                let start = try await values.loadEntry("begin", as: Int.self).version
                let changes = values.changes(prefix: "eu/", as: Int.self, since: start)
                let count = 60 * context.effort
                let reader = Task {
                    var seen: [DictionaryChange<Int>] = []
                    for await change in changes {
                        seen.append(change)
                        if seen.count == count + 1 { break }
                    }
                    return seen
                }
                defer { reader.cancel() }
                for number in 0..<count {
                    try await context.dictionary("watched", of: number)
                        .set(number, forKey: "eu/\(number % 7)")
                    if number % 5 == 0 {
                        try await values.set(number, forKey: "us/\(number)")
                        try await other.set(number, forKey: "eu/1")
                    }
                }
                try await values.removeValue(forKey: "eu/1")
                let seen = try await within(context.patience, "the watcher's changes") {
                    await reader.cancellableValue
                }
                var last = start
                for (number, change) in seen.dropLast().enumerated() {
                    guard case .set(let key, let value, let version) = change else {
                        throw ConformanceFailure("change \(number) is \(change)")
                    }
                    try requireEqual(value, number, "change \(number)")
                    try requireEqual(key, "eu/\(number % 7)", "the key of change \(number)")
                    try require(version > last, "version \(version) after \(last)")
                    last = version
                }
                guard case .removed("eu/1", let version)? = seen.last, version > last else {
                    throw ConformanceFailure("the last change is \(String(describing: seen.last))")
                }
            },
            ConformanceCheck(
                "changes since a version are those behind it, as often as they are asked for"
            ) {
                context in
                let values = context.dictionary("since")
                var versions: [UInt64] = []
                for number in 0..<20 {
                    try await values.set(number, forKey: "k\(number % 3)")
                    versions.append(
                        try await values.loadEntry("k\(number % 3)", as: Int.self).version)
                }
                for start in [0, 7, 18] {
                    let version = versions[start]
                    let task = Task {
                        var seen: [Int] = []
                        for await change in values.changes(as: Int.self, since: version) {
                            guard case .set(_, let value, _) = change else { continue }
                            seen.append(value)
                            if value == 19 { break }
                        }
                        return seen
                    }
                    let seen = try await within(context.patience, "the changes") {
                        await task.cancellableValue
                    }
                    try requireEqual(seen, Array((start + 1)..<20), "the changes since \(start)")
                }
            },
            ConformanceCheck("many watchers of a key each are told of theirs, and of no other") {
                context in
                let values = context.dictionary("many")
                try await values.set(0, forKey: "begin")
                let start = try await values.loadEntry("begin", as: Int.self).version
                let count = 200 * context.effort
                try await within(context.patience, "the changes of \(count) watchers") {
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for number in 0..<count {
                            group.addTask {
                                let key = "k\(number)"
                                for await change in values.changes(
                                    forKey: key, as: Int.self, since: start)
                                {
                                    guard case .set(key, number, _) = change else {
                                        throw ConformanceFailure("watcher \(number): \(change)")
                                    }
                                    return
                                }
                                throw ConformanceFailure("watcher \(number) ended untold")
                            }
                        }
                        group.addTask {
                            for number in 0..<count {
                                try await values.set(number, forKey: "k\(number)")
                            }
                        }
                        try await group.waitForAll()
                    }
                }
            },
            ConformanceCheck("the changes of one transaction have one version") { context in
                let values = context.dictionary("together")
                try await values.set(0, forKey: "begin")
                let start = try await values.loadEntry("begin", as: Int.self).version
                try await context.workspace.transaction { attempt in
                    for number in 1...5 {
                        try attempt.set(number, forKey: "k\(number)", in: values)
                    }
                }
                let task = Task {
                    var seen: [UInt64] = []
                    for await change in values.changes(as: Int.self, since: start) {
                        if let version = change.version { seen.append(version) }
                        if seen.count == 5 { break }
                    }
                    return seen
                }
                let seen = try await within(context.patience, "the changes") {
                    await task.cancellableValue
                }
                try requireEqual(seen.count, 5, "the number of changes")
                try requireEqual(Set(seen).count, 1, "the number of versions")
            },
        ]
    }
}

extension Task where Failure == Never {
    /// The value; who waits for it and is cancelled cancels it.
    var cancellableValue: Success {
        get async {
            await withTaskCancellationHandler {
                await value
            } onCancel: {
                cancel()
            }
        }
    }
}

/// What `body` returns, where that is in time; it is cancelled else, and not waited for: it may go on for ever.
func within<Result: Sendable>(
    _ duration: Duration, _ what: String, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    let task = Task { try await body() }
    defer { task.cancel() }
    guard let result = try await value(of: task, before: .now + duration) else {
        throw ConformanceFailure("\(what) did not come within \(duration)")
    }
    return result
}
