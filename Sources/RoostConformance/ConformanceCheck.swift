import Roost
import RoostIO

/// One promise of a `KeyValueWorkspace`, and what shows whether it is kept.
public struct ConformanceCheck<Workspace: KeyValueWorkspace>: Sendable {
    /// The promise, as a sentence.
    public let name: String
    let body: @Sendable (ConformanceContext<Workspace>) async throws -> Void

    init(
        _ name: String,
        _ body: @escaping @Sendable (ConformanceContext<Workspace>) async throws -> Void
    ) {
        self.name = name
        self.body = body
    }
}

/// What a check works with.
public struct ConformanceContext<Workspace: KeyValueWorkspace>: Sendable {
    /// Workspaces of the same records: several connections, where the workspace is one that is connected to.
    public var workspaces: [Workspace]
    /// Where the check's own dictionaries' names begin, so that checks do not meet.
    public var prefix: String
    /// For what is chosen by chance.
    public var seed: UInt64
    /// How much of what is repeated is done: 1 takes seconds.
    public var effort: Int
    /// How long what has to come is waited for; a check may take ten times that for each effort.
    public var patience: Duration

    var workspace: Workspace { workspaces[0] }

    func dictionary(_ name: String, of index: Int = 0) -> Workspace.NamedDictionary {
        workspaces[index % workspaces.count].dictionary("\(prefix)-\(name)")
    }
}

/// A promise that was not kept.
public struct ConformanceFailure: Error, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}

/// What became of one check.
public struct ConformanceResult: Sendable, CustomStringConvertible {
    public let name: String
    /// `nil` where the promise was kept.
    public let failure: String?
    public let duration: Duration

    public var description: String {
        "\(failure == nil ? "kept" : "BROKEN"): \(name) (\(duration))"
            + (failure.map { "\n    \($0)" } ?? "")
    }
}

/// The promises of a workspace, checked one after another.
///
/// ```swift
/// let suite = ConformanceSuite<SharedWorkspace>.shared(to: { .memory(engine) })
/// let results = try await suite.run()
/// ```
///
/// Who writes a `SharedEngine` runs ``shared(effort:seed:connecting:)`` over it. Nothing of it needs a testing library.
public struct ConformanceSuite<Workspace: KeyValueWorkspace>: Sendable {
    var checks: [ConformanceCheck<Workspace>]
    let open: @Sendable () async throws -> [Workspace]
    let close: @Sendable ([Workspace]) async throws -> Void
    let effort: Int
    let patience: Duration
    /// Printed with failures, so that they can be run again.
    public let seed: UInt64

    init(
        _ checks: [ConformanceCheck<Workspace>], effort: Int, seed: UInt64?,
        patience: Duration,
        open: @escaping @Sendable () async throws -> [Workspace],
        close: @escaping @Sendable ([Workspace]) async throws -> Void
    ) {
        self.checks = checks
        self.open = open
        self.close = close
        self.effort = effort
        self.patience = patience
        self.seed = seed ?? .random(in: 0 ... .max)
    }

    /// Runs every check, and tells each result as it is there.
    ///
    /// - Parameters:
    ///   - stopsAtFailure: whether the checks after one that fails are left out.
    ///   - onResult: called for each check, in their order.
    /// - Throws: what opening throws; what a check throws is in its result.
    public func run(
        stopsAtFailure: Bool = false, onResult: (ConformanceResult) -> Void = { _ in }
    ) async throws -> [ConformanceResult] {
        let workspaces = try await open()
        var results: [ConformanceResult] = []
        for (number, check) in checks.enumerated() {
            let context = ConformanceContext(
                workspaces: workspaces, prefix: "c\(seed)-\(number)", seed: seed, effort: effort,
                patience: patience)
            let begin = ContinuousClock.now
            var failure: String?
            do {
                // What hangs is a broken promise too, and not waited for.
                try await within(patience * 10 * effort, "the end of the check") {
                    try await check.body(context)
                }
            } catch { failure = "\(error) (seed \(seed))" }
            let result = ConformanceResult(
                name: check.name, failure: failure, duration: .now - begin)
            onResult(result)
            results.append(result)
            if stopsAtFailure && failure != nil { break }
        }
        try await close(workspaces)
        return results
    }
}

// MARK: What checks say

func require(
    _ holds: Bool, _ message: @autoclosure () -> String, line: Int = #line
) throws {
    guard holds else { throw ConformanceFailure("line \(line): \(message())") }
}

func requireEqual<Value: Equatable>(
    _ found: Value, _ expected: Value, _ what: String, line: Int = #line
) throws {
    guard found == expected else {
        throw ConformanceFailure("line \(line): \(what) is \(found), not \(expected)")
    }
}

func requireError(
    _ code: RoostError.Code, _ what: String, line: Int = #line,
    _ body: () async throws -> Void
) async throws {
    do { try await body() } catch let error as RoostError {
        guard error.code == code else {
            throw ConformanceFailure("line \(line): \(what) throws \(error), not .\(code)")
        }
        return
    }
    throw ConformanceFailure("line \(line): \(what) does not throw .\(code)")
}

extension AsyncSequence {
    func collected() async throws -> [Element] {
        var all: [Element] = []
        for try await element in self { all.append(element) }
        return all
    }
}
