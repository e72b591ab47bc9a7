import Crypto
import Foundation
import Roost
import RoostEncryption
import Testing

@testable import RoostReplica

/// Where the random numbers of this run begin: `ROOST_TEST_SEED`, or another at each run.
let testSeed: UInt64 =
    ProcessInfo.processInfo.environment["ROOST_TEST_SEED"].flatMap { UInt64($0) }
    ?? .random(in: 0...UInt64(UInt32.max))

/// SplitMix64.
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var word = state
        word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
        return word ^ (word >> 31)
    }

    /// Whether something happens that happens once in `count` times.
    mutating func isOne(in count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }
}

/// Runs `body` with the path of a directory that is gone afterwards.
func withDirectory<Result>(
    _ body: (String) async throws -> Result
) async throws -> Result {
    let path = FileManager.default.temporaryDirectory.path + "/roost-replica-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
}

/// All values of a dictionary of texts.
func contents(of workspace: Workspace, _ name: String) async throws -> [String: String] {
    var found: [String: String] = [:]
    for try await (key, value) in workspace.dictionary(name).entries(as: String.self) {
        found[key] = value
    }
    return found
}

/// Of a sealed copy of an encrypted workspace; none of a plain one.
func newEncryption(_ isSealed: Bool) -> WorkspaceEncryption? {
    isSealed ? .key(SymmetricKey(size: .bits256)) : nil
}

/// Fast enough for tests.
let quick = ReplicaOptions(
    interval: .milliseconds(40), retention: .seconds(3600), minimumBytesBetweenBases: 64 << 10)

/// Asks again until `condition` holds; `false` after a minute.
func eventually(_ condition: () async throws -> Bool) async throws -> Bool {
    let end = ContinuousClock.now + .seconds(180)
    while ContinuousClock.now < end {
        if try await condition() { return true }
        try await Task.sleep(for: .milliseconds(10))
    }
    return false
}

extension Replica {
    /// As `stop`, however busy the machine is.
    func end() async throws { try await stop(within: .seconds(600)) }
}

/// Restores the newest state from `storage` and hands on what is in "d".
func restored(
    _ storage: any ObjectStorage, _ directory: String, at point: RestorePoint = .newest,
    _ encryption: WorkspaceEncryption? = nil
) async throws -> (RestoreReport, [String: String]) {
    let path = "\(directory)/restored-\(UUID().uuidString)"
    let report = try await Replica.restore(
        from: storage, encryption: encryption, to: path, at: point)
    let workspace = try await Workspace.open(
        at: path, configuration: .init(access: .readOnly, encryption: encryption))
    let found = try await contents(of: workspace, "d")
    try await workspace.close()
    return (report, found)
}

/// Writes until so many bases stand.
func writeBases(_ workspace: Workspace, _ replica: Replica, count baseCount: Int) async throws {
    let d = workspace.dictionary("d")
    let text = String(repeating: "x", count: 1_000)
    var round = 0
    let areThere = try await eventually {
        round += 1
        for number in 0..<100 { try await d.set("\(text) \(round)", forKey: "k\(number)") }
        try await workspace.compact()
        try await replica.waitUntilCopied()
        return replica.status.baseCount >= baseCount
    }
    #expect(areThere)
    try await d.set("last", forKey: "last")
}

/// Runs `body` with the path of a closed workspace and its copy, which has three bases at least.
func withBases(
    _ body: (String, MemoryStorage, [String: String]) async throws -> Void
) async throws {
    try await withDirectory { directory in
        let storage = MemoryStorage()
        let workspace = try await Workspace.open(at: "\(directory)/w")
        let replica = try Replica(of: workspace, to: storage, options: quick)
        try await writeBases(workspace, replica, count: 3)
        try await replica.end()
        let expected = try await contents(of: workspace, "d")
        try await workspace.close()
        try await body(directory, storage, expected)
    }
}
