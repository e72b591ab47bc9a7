import RoostFormat

/// Short workloads of which every crash is tried.
package struct CrashWorkload: Sendable {
    package typealias Step = CrashEnumeration.Step

    package let name: String
    let openings: [[Step]]
    var thresholdBytes: UInt64 = 1 << 20
    var allowsMapping = true
    var segmentSizeBytes = 64 << 10

    /// Tries them; throws at the first state that shows what it must not.
    package func explore() async throws -> CrashEnumeration {
        var enumeration = CrashEnumeration()
        enumeration.configuration.flushThresholdBytes = thresholdBytes
        enumeration.configuration.segmentSizeBytes = segmentSizeBytes
        enumeration.allowsMapping = allowsMapping
        try await enumeration.explore(openings)
        return enumeration
    }

    private static func put(
        _ key: String, _ number: UInt8, _ count: Int = 20, in dictionary: String = "a"
    ) -> History.Change {
        let value = [ValueKind.data.rawValue, number] + [UInt8](repeating: number, count: count)
        return .put(dictionary: dictionary, key: key, value: value)
    }

    private static func remove(_ key: String) -> History.Change {
        .remove(dictionary: "a", key: key)
    }

    private static let compact = Step.call { try await $0.compact() }
    private static let flush = Step.call { try await $0.flush() }
    private static let synchronize = Step.call { try await $0.synchronize() }
    private static let close = Step.call { try await $0.close() }

    package static let all: [CrashWorkload] = writing + compacting + reopening

    private static let writing = [
        CrashWorkload(
            name: "synced",
            openings: [[.write([put("x", 1)], .synced), .write([put("x", 2)], .synced)]]),
        CrashWorkload(
            name: "unsynced, then synced",
            openings: [
                [.write([put("x", 1)]), .write([put("y", 2, 900)]), .write([put("x", 3)], .synced)]
            ]),
        CrashWorkload(
            name: "batches",
            openings: [
                [
                    .write([put("x", 1, 600), put("y", 1, 600), put("z", 1, 600)]), synchronize,
                    .write([put("x", 2, 600), remove("y"), put("z", 2, 600)], .synced),
                ]
            ]),
        CrashWorkload(
            name: "one batch over many pages",
            openings: [
                [
                    .write([put("x", 1)], .synced),
                    .write([put("x", 2, 9000), put("y", 2, 9000)], .synced), .write([put("z", 3)]),
                ]
            ]),
        CrashWorkload(
            name: "rotation",
            openings: [
                (1...5).map {
                    .write([put("x", $0, 500), put("y", $0, 300)], $0 == 3 ? .synced : .process)
                }
            ], thresholdBytes: 1200),
        CrashWorkload(
            name: "segments that are full",
            openings: [(1...6).map { .write([put("x", $0, 1800)], $0 == 4 ? .synced : .process) }],
            segmentSizeBytes: 4096),
        CrashWorkload(
            name: "removals alone",
            openings: [
                [
                    .write([put("x", 1), put("y", 1)], .synced), .write([remove("x")], .synced),
                    .write([remove("y")]), synchronize,
                ]
            ]),
    ]

    private static let compacting = [
        CrashWorkload(
            name: "compaction",
            openings: [
                [
                    .write([put("x", 1), put("y", 1)]), compact, .write([put("x", 2)], .synced),
                    compact, .write([remove("y")]),
                ]
            ]),
        CrashWorkload(
            name: "clearing",
            openings: [
                [
                    .write([put("x", 1), put("y", 1, in: "b")]), compact,
                    .write([.clear(dictionary: "a"), put("z", 2)], .synced), .write([put("x", 3)]),
                    compact, .write([.clear(dictionary: "b")]), compact,
                ]
            ]),
        CrashWorkload(
            name: "flushes without merges",
            openings: [
                [
                    .write([put("x", 1), put("y", 1)]), flush, .write([put("x", 2)]), flush,
                    .write([remove("x")], .synced), flush,
                ]
            ]),
        CrashWorkload(
            name: "a merge that leaves nothing",
            openings: [
                [.write([put("x", 1)], .synced), compact, .write([remove("x")], .synced), compact]
            ]),
        CrashWorkload(
            name: "compaction of nothing",
            openings: [[compact, .write([put("x", 1)], .synced), compact, compact]]),
        CrashWorkload(
            name: "a clear before its flush",
            openings: [
                [
                    .write([put("x", 1), put("y", 1)], .synced), flush,
                    .write([.clear(dictionary: "a")]), flush, .write([put("x", 2)], .synced),
                ]
            ]),
    ]

    private static let reopening = [
        CrashWorkload(
            name: "closing and opening",
            openings: [
                [.write([put("x", 1)]), close], [.write([put("x", 2)]), close],
                [.write([remove("x")])],
            ]),
        CrashWorkload(
            name: "killed while unsynced",
            openings: [
                [.write([put("x", 1)], .synced), .write([put("x", 2, 700)])],
                [.write([put("y", 3)])], [.write([put("y", 4)], .synced)],
            ]),
        CrashWorkload(
            name: "killed behind a compaction",
            openings: [
                [.write([put("x", 1)], .synced), compact],
                [.write([put("x", 2)], .synced), compact], [.write([put("y", 3)], .synced)],
            ]),
        CrashWorkload(
            name: "without mapping",
            openings: [
                [.write([put("x", 1, 700)]), .write([put("y", 1)], .synced), compact],
                [.write([put("x", 2)]), .write([put("z", 3)], .synced), close],
            ], allowsMapping: false),
        CrashWorkload(
            name: "openings that write nothing",
            openings: [[.write([put("x", 1)])], [], [close], []]),
        CrashWorkload(
            name: "a batch in every opening",
            openings: (1...4).map { [.write([put("x", $0), put("y", $0, 600)])] }),
        CrashWorkload(
            name: "killed behind a flush without mapping",
            openings: [
                [.write([put("x", 1), put("y", 1)]), flush, .write([remove("x")])],
                [.write([put("y", 2)], .synced), flush],
            ], allowsMapping: false),
        CrashWorkload(
            name: "full segments that nobody synced, without mapping",
            openings: (1...2).map { number in
                (0..<4).map { .write([put("\($0)", number, 1500)]) }
            }, allowsMapping: false, segmentSizeBytes: 4096),
        // The first opening's batches end where a seal lies in two sectors.
        CrashWorkload(
            name: "torn writes, and synced ones after them, without mapping",
            openings: [
                [.write([put("x", 1, 392)]), .tear([put("y", 1, 900)])],
                [.write([put("y", 2)], .synced), .write([put("x", 2)]), .tear([put("z", 2)])],
                [.write([put("z", 3)], .synced)],
            ], allowsMapping: false),
        CrashWorkload(
            name: "torn writes, failed syncs, and synced ones after them, without mapping",
            openings: (0..<4).flatMap { number in
                [
                    [.write([put("x", number)]), .tear([put("y", number, 900)])],
                    [.failSync([put("y", number)])],
                    [.write([put("z", number)], .synced)],
                ]
            }, allowsMapping: false),
        CrashWorkload(
            name: "full segments in every opening",
            openings: (1...3).map { number in
                (0..<3).map { .write([put("\($0)", number, 1500)], $0 == 1 ? .synced : .process) }
            }, segmentSizeBytes: 4096),
    ]
}
