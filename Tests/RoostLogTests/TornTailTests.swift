import Foundation
import RoostFormat
import RoostIO
import RoostLog
import RoostTestSupport
import Testing

/// The payloads of the test's log; the sixth holds nothing but set bits, as the number -1 does.
private let payloads: [[UInt8]] = [
    [1], Array(2...30), [], [3, 3, 3], Array(4...8), [UInt8](repeating: 0xff, count: 42), [6, 7],
]

/// Where each frame ends in the segment, the first entry being where the first begins.
private let ends: [Int] = payloads.reduce(into: [SegmentHeader.sizeBytes]) { ends, payload in
    ends.append(ends.last! + Frame.sizeBytes(payloadCount: payload.count))
}

@Suite struct TornTailTests {
    static let fileSystems = [PosixFileSystem(), PosixFileSystem(allowsMapping: false)]

    /// The bytes of a segment that a process left without closing it.
    private func crashedSegment(_ fileSystem: PosixFileSystem, _ path: String) throws -> [UInt8] {
        let log = try SampleLog(at: path, fileSystem: fileSystem)
        for payload in payloads { try log.append(payload) }
        return try withExtendedLifetime(log) { try readBytes(segmentPath(path, 1)) }
    }

    /// Seeds 300237291, 300056961 and 300233064. The writer broke a segment off and sealed it; a power cut
    /// took that back but for the seal. The opening put a second seal after the first, and from then
    /// on each opening found the log's end there: synced batches after it were lost.
    @Test func aSealWithSomethingBehindItIsCutOnceAndForAll() async throws {
        try await withTemporaryDirectory { path in
            let log = try SampleLog(at: path)
            try log.append([1])
            try log.append([2])
            _ = try log.writer.rotate()
            var sealed = try readBytes(segmentPath(path, 1))
            let end = end(of: [[1], [2]]) + Frame.headerSizeBytes
            sealed.replaceSubrange(end..<(end + 8), with: [UInt8](repeating: 9, count: 8))
            try writeBytes(sealed, to: segmentPath(path, 1))
            let first = try SampleRecovery(at: path)
            #expect(first.payloads == [[1], [2]] && !first.recovery.tornTails.isEmpty)
            let next = try SampleLog(at: path, recovered: first.recovery)
            try next.append([3], isAwaited: true)
            try await next.syncer.sync()
            for _ in 0..<2 {
                let again = try SampleRecovery(at: path)
                #expect(again.payloads == [[1], [2], [3]])
                #expect(again.recovery.tornTails.isEmpty)
            }
        }
    }

    private func end(of payloads: [[UInt8]]) -> Int {
        payloads.reduce(SegmentHeader.sizeBytes) { $0 + Frame.sizeBytes(payloadCount: $1.count) }
    }

    /// How many frames are whole in the first `count` bytes; padding need not be there.
    private func wholeFrames(_ count: Int) -> Int {
        payloads.indices.count { ends[$0] + Frame.headerSizeBytes + payloads[$0].count <= count }
    }

    @Test(arguments: fileSystems.indices)
    func aLogCutAnywhereKeepsExactlyTheFramesBefore(kind: Int) async throws {
        try await withTemporaryDirectory { path in
            let fileSystem = Self.fileSystems[kind]
            let original = try crashedSegment(fileSystem, path)
            #expect(original.count == 8192)
            for cut in Array(stride(from: 0, to: ends[3], by: 5))
                + Array(ends[3]...(ends.last! + 16))
            {
                // Once as a shorter file, once as one whose rest was never written.
                for rest in [0, original.count - cut] {
                    try clear(path)
                    let bytes = original[..<cut] + [UInt8](repeating: 0, count: rest)
                    try writeBytes(bytes, to: segmentPath(path, 1))
                    try check(path, fileSystem, cut: cut, isShort: rest == 0)
                }
            }
        }
    }

    private func check(_ path: String, _ fileSystem: PosixFileSystem, cut: Int, isShort: Bool)
        throws
    {
        let label = "cut at \(cut), \(isShort ? "short" : "zeros")"
        let first = try SampleRecovery(at: path, fileSystem: fileSystem)
        let atLeast = wholeFrames(cut)
        #expect(first.payloads.count >= atLeast, "\(label)")
        // Zeros may stand for what was cut only where they are what was there.
        #expect(first.payloads == Array(payloads.prefix(first.payloads.count)), "\(label)")
        if isShort { #expect(first.payloads.count == atLeast, "\(label)") }
        let second = try SampleRecovery(at: path, fileSystem: fileSystem)
        #expect(second.payloads == first.payloads, "\(label)")
        #expect(second.recovery.tornTails.isEmpty, "\(label)")
        let log = try SampleLog(at: path, fileSystem: fileSystem, recovered: second.recovery)
        try log.append([99])
        let third = try withExtendedLifetime(log) {
            try SampleRecovery(at: path, fileSystem: fileSystem, cuts: false)
        }
        #expect(third.payloads == first.payloads + [[99]], "\(label)")
    }

    private func clear(_ path: String) throws {
        for name in try fileNames(in: path, prefix: "") {
            try FileManager.default.removeItem(atPath: "\(path)/\(name)")
        }
    }

    @Test func theTailIsKeptAsideAndReported() async throws {
        try await withTemporaryDirectory { path in
            let original = try crashedSegment(PosixFileSystem(), path)
            let cut = ends[6] + 10
            try writeBytes(original[..<cut], to: segmentPath(path, 1))
            let found = try SampleRecovery(at: path)
            let tail = try #require(found.recovery.tornTails.first)
            #expect(found.recovery.tornTails.count == 1)
            #expect((tail.segment, tail.offset, tail.sizeBytes) == (1, ends[6], 9))
            let kept = FileName.tornTail(segment: 1, offset: UInt64(ends[6])).text
            // The last of the ten bytes is a zero of the sequence number.
            #expect(try readBytes("\(path)/\(kept)") == Array(original[ends[6]..<(ends[6] + 9)]))
        }
    }

    /// A segment that was cut off whole gives its number back; the second tail was then cut off without a copy, and the
    /// report named that of the first.
    @Test func twoTailsOfOnePlaceAreBothKept() async throws {
        try await withTemporaryDirectory { path in
            let original = try crashedSegment(PosixFileSystem(), path)
            var kept: [[UInt8]] = []
            for round in 0..<3 {
                var bytes = Array(original[..<(ends[6] + 10)])
                bytes[ends[6]] = UInt8(1 + round % 2)
                try writeBytes(bytes, to: segmentPath(path, 1))
                let found = try SampleRecovery(at: path)
                let tail = try #require(found.recovery.tornTails.first)
                let name = try #require(tail.keptAs)
                let expected = Array(bytes[ends[6]..<(ends[6] + 9)])
                #expect(try readBytes("\(path)/\(name)") == expected)
                if round < 2 { kept.append(expected) }
            }
            // The third is as the first.
            let names = try fileNames(in: path, prefix: "torn")
            #expect(Set(try names.map { try readBytes("\(path)/\($0)") }) == Set(kept))
            #expect(names.count == 2 && names.allSatisfy { FileName($0)?.text == $0 })
        }
    }

    @Test func recoveryForReadingOnlyChangesNothing() async throws {
        try await withTemporaryDirectory { path in
            let original = try crashedSegment(PosixFileSystem(), path)
            try writeBytes(original[..<(ends[6] + 10)], to: segmentPath(path, 1))
            let before = try contents(ofDirectory: path)
            let found = try SampleRecovery(at: path, cuts: false)
            #expect(found.payloads == Array(payloads.prefix(6)))
            #expect(try contents(ofDirectory: path) == before)
        }
    }

    @Test func recoveryStoppedAtAnyStepIsTakenUpByTheNext() async throws {
        try await withTemporaryDirectory { path in
            let log = try SampleLog(at: path)
            for payload in payloads { try log.append(payload) }
            _ = try log.writer.rotate()
            for payload in payloads { try log.append(payload) }
            _ = try log.writer.rotate()
            try log.append([1, 2, 3])
            // The second of three segments is torn, so the third goes as a whole.
            var second = try readBytes(segmentPath(path, 2))
            for index in (ends[3] + 8)..<second.count { second[index] = 0 }
            try writeBytes(second, to: segmentPath(path, 2))
            for failing in 0..<100 {
                try copyDirectory(path, to: "\(path)-copy")
                defer { try? FileManager.default.removeItem(atPath: "\(path)-copy") }
                let plan = FaultPlan(failAt: failing)
                do {
                    let found = try SampleRecovery(
                        at: "\(path)-copy", fileSystem: plan.fileSystem())
                    #expect(found.payloads == payloads + payloads.prefix(3))
                    #expect(failing > 8)
                    return
                } catch { #expect((error as? RoostError)?.code == .io) }
                let again = try SampleRecovery(at: "\(path)-copy")
                #expect(
                    again.payloads == payloads + payloads.prefix(3), "stopped at call \(failing)")
                let third = try SampleRecovery(at: "\(path)-copy")
                #expect(third.recovery.tornTails.isEmpty)
                #expect(third.payloads == again.payloads)
                #expect(try fileNames(in: "\(path)-copy", prefix: "torn").count == 2)
            }
            Issue.record("recovery makes more than a hundred calls")
        }
    }
}
