import RoostFormat
import RoostTestSupport
import Testing

private func sample() -> ManifestRecord {
    var footer = SnapshotFooter()
    footer.number = 3
    footer.fileSizeBytes = 4_000
    footer.recordCount = 17
    footer.minimumSequence = 2
    footer.maximumSequence = 40
    var record = ManifestRecord(
        workspace: .init(first: 5, second: 6), hashSeed: .init(first: 7, second: 8))
    record.generation = 9
    record.firstSegment = 10
    record.flushedSequence = 50
    record.durableSequence = 60
    record.nextSnapshotNumber = 4
    record.clears = [.init(prefix: [1, 65], sequence: 30), .init(prefix: [0], sequence: 31)]
    let older = ManifestRecord.Snapshot(footer: footer, lowerBound: [])
    footer.number = 2
    var newer = ManifestRecord.Snapshot(footer: footer, lowerBound: [1, 66])
    newer.isTrimmed = true
    footer.number = 1
    let last = ManifestRecord.Snapshot(footer: footer, lowerBound: [1, 67])
    record.tiers = [[newer, last], [older]]
    return record
}

private func bytes(_ record: ManifestRecord) -> [UInt8] {
    let buffer = record.encoded()
    return withExtendedLifetime(buffer) { Array(buffer.bytes) }
}

private func read(_ bytes: [UInt8]) -> ManifestRecord.Reading {
    bytes.withUnsafeBytes { ManifestRecord.read($0) }
}

/// Makes the checksum hold again after a change.
private func fixed(_ bytes: [UInt8]) -> [UInt8] {
    let body = bytes.dropLast(4)
    let checksum = Array(body).withUnsafeBytes { ChecksumSeed(0).checksum($0) }
    return body + (0..<4).map { UInt8(truncatingIfNeeded: checksum >> (8 * UInt32($0))) }
}

@Suite struct ManifestRecordTests {
    @Test func whatWasWrittenIsRead() {
        guard case .valid(let record) = read(bytes(sample())) else {
            Issue.record("not read")
            return
        }
        #expect(record == sample())
    }

    @Test func everyFlippedBitIsRefused() {
        let original = bytes(sample())
        for bit in 0..<(8 * original.count) {
            var damaged = original
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            if case .valid = read(damaged) { Issue.record("bit \(bit) passed") }
            if case .unsupported = read(damaged) { #expect((8..<12).contains(bit / 8)) }
        }
    }

    @Test func everyTruncationIsRefused() {
        let original = bytes(sample())
        for count in 0..<original.count {
            guard case .damaged = read(Array(original[..<count])) else {
                Issue.record("\(count) bytes passed")
                continue
            }
        }
        guard case .damaged = read(original + [0]) else {
            Issue.record("a longer one passed")
            return
        }
    }

    @Test func aLaterVersionIsUnsupportedWhateverFollows() {
        var later = bytes(sample())
        later[8] = 4
        guard case .unsupported(version: 4) = read(later) else {
            Issue.record("checksum of old")
            return
        }
        guard case .unsupported(version: 4) = read(fixed(later)) else {
            Issue.record("checksum of new")
            return
        }
    }

    @Test func hostileFieldsWithAPassingChecksumNeverTrap() {
        var random = SeededGenerator(seed: testSeed())
        let original = bytes(sample())
        for _ in 0..<20_000 {
            var hostile = original
            for _ in 0..<(1 + random.below(4)) {
                let at = 12 + random.below(hostile.count - 16)
                hostile[at] = random.once(in: 3) ? 0xff : random.bytes(1)[0]
            }
            if random.once(in: 4) { hostile.removeLast(random.below(40)) }
            if case .valid(let record) = read(fixed(hostile)) {
                #expect(record.tiers.allSatisfy { !$0.isEmpty })
            }
        }
    }

    @Test func numbersThatCannotBeCountedUpFromAreRefusedThoughTheChecksumHolds() {
        let changes: [(inout ManifestRecord) -> Void] = [
            { $0.firstSegment = 0 }, { $0.firstSegment = .max }, { $0.flushedSequence = .max },
            { $0.durableSequence = .max }, { $0.generation = .max },
            { $0.nextSnapshotNumber = .max },
            { $0.nextSnapshotNumber = 3 }, { $0.clears.append($0.clears[0]) },
            { $0.clears[0].sequence = .max }, { $0.tiers[0][0].fileSizeBytes = 1 << 63 },
            { $0.tiers[0][0].recordCount = .max }, { $0.tiers[0][0].maximumSequence = .max },
            {
                $0.tiers[0][0].recordCount = 1
                $0.tiers[0][0].minimumSequence = $0.tiers[0][0].maximumSequence + 1
            },
            { $0.tiers.append($0.tiers[0]) }, { $0.tiers.append([]) }, { $0.tiers[0].swapAt(0, 1) },
        ]
        for change in changes {
            var record = sample()
            change(&record)
            guard case .damaged = read(bytes(record)) else {
                Issue.record("\(record) passed")
                continue
            }
        }
    }
}
