import Roost
import RoostIO
import RoostShared
import RoostTestSupport
import Testing

private struct Memo: Codable, Identifiable, Equatable, Sendable {
    var id: String
    /// Every edit that is in it.
    var edits: Set<Int>
}

/// A device in files, which are put back to an earlier copy, or replaced by the copy of another device.
private final class Device {
    let path: String
    private let engine: MemoryEngine
    private let rule: SyncedRepository<Memo>.Rule
    private var local: Workspace
    private(set) var memos: SyncedRepository<Memo>
    private var copyCount = 0
    private(set) var newestCopy: String?

    init(
        _ path: String, _ engine: MemoryEngine, rule: @escaping SyncedRepository<Memo>.Rule
    ) async throws {
        (self.path, self.engine, self.rule) = (path, engine, rule)
        local = try await .open(at: path)
        memos = try await Self.memos(local, engine, rule)
    }

    private static func memos(
        _ local: Workspace, _ engine: MemoryEngine, _ rule: @escaping SyncedRepository<Memo>.Rule
    ) async throws -> SyncedRepository<Memo> {
        let shared = try await SharedWorkspace.connect(to: .memory(engine), namespace: "test")
        return SyncedRepository(
            of: Memo.self, named: "memos", in: local, with: shared, rule: rule)
    }

    var edits: Set<Int> {
        get async throws { Set(try await memos.loadAll().flatMap(\.edits)) }
    }

    func copy() async throws {
        copyCount += 1
        let target = "\(path).\(copyCount)"
        try await reopening { try copyDirectory(path, to: target) }
        newestCopy = target
    }

    func restore(_ copy: String) async throws {
        try await reopening { try copyDirectory(copy, to: path) }
    }

    func close() async throws { try await local.close() }

    private func reopening(_ body: () throws -> Void) async throws {
        try await local.close()
        try body()
        local = try await .open(at: path)
        memos = try await Self.memos(local, engine, rule)
    }
}

private let union: SyncedRepository<Memo>.Rule = { mine, theirs in
    guard let mine, let theirs else { return .merged(mine ?? theirs) }
    return .merged(Memo(id: mine.id, edits: mine.edits.union(theirs.edits)))
}

/// Devices whose disks go back to an earlier copy, or get that of another device, so that two say that they are one.
@Suite(.timeLimit(.minutes(5))) struct SyncedRestoreTests {
    private static let rules: [SyncedRepository<Memo>.Rule] = [
        SyncedRepository<Memo>.lastWriter, { _, _ in .theirs }, union,
    ]

    @Test(arguments: 0..<60)
    func onlyWhatNobodyElseHasIsLostWithADisk(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        try await withTemporaryDirectory { root in
            let engine = MemoryEngine()
            let store = try await SharedWorkspace.connect(to: .memory(engine), namespace: "test")
                .dictionary("memos")
            var devices: [Device] = []
            for number in 0..<3 {
                let rule = Self.rules[Int(seed) % Self.rules.count]
                devices.append(try await Device("\(root)/\(number)", engine, rule: rule))
            }
            var made: Set<Int> = []
            // Removed by who saw it, lost with a disk, or decided about and reported.
            var gone: Set<Int> = []
            for edit in 0..<40 {
                let place = random.below(3)
                let device = devices[place]
                let id = ["a", "b", ""][random.below(3)]
                switch random.below(13) {
                case 0...5:
                    made.insert(edit)
                    try await device.memos.update(id) {
                        $0 = Memo(id: id, edits: ($0?.edits ?? []).union([edit]))
                    }
                case 6:
                    gone.formUnion(try device.memos.find(by: id)?.edits ?? [])
                    try await device.memos.delete(id)
                case 7...9: gone.formUnion(try await Self.exchange(device))
                case 10: try await device.copy()
                default:
                    // Every second time it is the disk of the next device.
                    guard let copy = devices[(place + random.below(2)) % 3].newestCopy else {
                        break
                    }
                    var left: Set<Int> = []
                    for try await entry in store.entries(as: Memo.self) {
                        left.formUnion(entry.value.edits)
                    }
                    for other in 0..<3 where other != place {
                        left.formUnion(try await devices[other].edits)
                    }
                    gone.formUnion(try await device.edits.subtracting(left))
                    try await device.restore(copy)
                }
            }
            for _ in 0..<4 {
                for device in devices { gone.formUnion(try await Self.exchange(device)) }
            }
            let first = try await devices[0].memos.loadAll()
            for device in devices {
                #expect(try await device.memos.loadAll() == first, "seed \(seed)")
                #expect(try device.memos.waitingCount == 0, "seed \(seed)")
                try await device.close()
            }
            let lost = made.subtracting(first.flatMap(\.edits)).subtracting(gone)
            #expect(lost.isEmpty, "seed \(seed)")
        }
    }

    /// What was decided against.
    private static func exchange(_ device: Device) async throws -> Set<Int> {
        var lost: Set<Int> = []
        for resolution in try await device.memos.synchronize().resolutions {
            lost.formUnion(resolution.mine?.edits ?? [])
            lost.formUnion(resolution.theirs?.edits ?? [])
            lost.subtract(resolution.result?.edits ?? [])
        }
        return lost
    }
}
