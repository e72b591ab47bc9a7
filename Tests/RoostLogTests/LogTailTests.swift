import Foundation
import RoostFormat
import RoostIO
import RoostLog
import RoostTestSupport
import Testing

/// What a reader takes of a log that another opening writes.
@Suite struct LogTailTests {
    private func tail(_ log: SampleLog) throws -> LogTail {
        try LogTail(
            ManifestRecord(workspace: SampleLog.workspace, hashSeed: .init(first: 0, second: 0)),
            in: log.directory)
    }

    private func payloads(
        of tail: inout LogTail, looksFurther: Bool = true, showsUnsynced: Bool = true,
        end expected: LogTail.End = .log
    ) throws -> [[UInt8]] {
        var found: [[UInt8]] = []
        let end = try tail.read(
            limitBytes: .max, looksFurther: looksFurther, isHeld: { _ in !showsUnsynced }
        ) { frame, _ in
            let start = frame.start + Frame.headerSizeBytes
            found.append(Array(UnsafeRawBufferPointer(start: start, count: frame.payloadCount)))
        }
        #expect(end == expected)
        return found
    }

    @Test func batchesAreReadAsTheyComeThroughManySegments() async throws {
        try await withTemporaryDirectory { path in
            let log = try SampleLog(at: path, sizeBytes: 8192, minimumSegmentSizeBytes: 8192)
            var tail = try tail(log)
            var random = SeededGenerator(seed: testSeed())
            var written: [[UInt8]] = []
            var read: [[UInt8]] = []
            for number in 0..<400 {
                let size = random.once(in: 20) ? 20_000 : 1 + random.below(900)
                let bytes = [UInt8](repeating: UInt8(number % 251), count: size)
                try log.append(bytes)
                written.append(bytes)
                if random.once(in: 3) { read += try payloads(of: &tail, looksFurther: false) }
            }
            read += try payloads(of: &tail)
            #expect(read == written)
            #expect(tail.segments.count > 3)
            #expect(tail.lastSequence == 400)
        }
    }

    @Test func aFrameCountsOnceItIsWhole() async throws {
        try await withTemporaryDirectory { path in
            let log = try SampleLog(at: path)
            try log.append([1, 2, 3])
            let second = try log.append(Array(repeating: 7, count: 100))
            let end = try log.append([9])
            // As the writer stores it: the checksum last.
            let offset = Int(second.location) - Int(bitPattern: second.region.base)
            let stored = Array(
                UnsafeRawBufferPointer(
                    start: second.region.base + offset,
                    count: Int(end.location - second.location)))
            // Without its padding a frame is whole.
            let wholeCount = Frame.headerSizeBytes + 100
            for shown in [8, 24, 60, wholeCount - 1] {
                (second.region.base + offset).initializeMemory(
                    as: UInt8.self, repeating: 0, count: stored.count)
                stored.withUnsafeBytes { bytes in
                    (second.region.base + offset).copyMemory(
                        from: bytes.baseAddress!, byteCount: shown)
                }
                var tail = try tail(log)
                #expect(try payloads(of: &tail) == [[1, 2, 3]])
                stored.withUnsafeBytes { bytes in
                    (second.region.base + offset).copyMemory(
                        from: bytes.baseAddress!, byteCount: stored.count)
                }
                #expect(
                    try payloads(of: &tail) == [Array(repeating: 7, count: 100), [9]])
            }
        }
    }

    @Test func aTailThatIsCutUnderTheReaderIsNoFault() async throws {
        try await withTemporaryDirectory { path in
            let log = try SampleLog(at: path, sizeBytes: 64 << 10)
            try log.append(Array(repeating: 5, count: 4000))
            var tail = try tail(log)
            #expect(try payloads(of: &tail).count == 1)
            log.writer.abandon()
            // What a successor does: cuts, and begins another segment.
            let recovered = try SampleRecovery(at: path)
            #expect(try payloads(of: &tail).isEmpty)
            let next = try SampleLog(at: path, recovered: recovered.recovery)
            try next.append([6])
            #expect(try payloads(of: &tail) == [[6]])
            #expect(tail.segments.allSatisfy { $0.region.replacedPageCount == 0 })
        }
    }

    @Test func aFrameThatAnotherProgramHasCutEndsTheSegment() async throws {
        try await withTemporaryDirectory { path in
            let log = try SampleLog(at: path, sizeBytes: 64 << 10)
            try log.append([1])
            let long = try log.append(Array(repeating: 5, count: 9000))
            _ = try log.writer.rotate()
            try log.append([3])
            let offset = UInt64(Int(long.location) - Int(bitPattern: long.region.base))
            try log.directory.openFile(FileName.segment(1).text, writable: true)
                .truncate(to: offset + 5000)
            var tail = try tail(log)
            #expect(try payloads(of: &tail, end: .missing) == [[1]])
        }
    }

    /// It was taken for damage.
    @Test func aPageThatIsLostBehindTheLookAtItIsUnreadable() async throws {
        try await withTemporaryDirectory { path in
            let log = try SampleLog(at: path, sizeBytes: 64 << 10)
            try log.append(Array(repeating: 5, count: 9000))
            try log.append([2], isAwaited: true)
            guard case .mapped = try log.directory.sharing else { return }
            var tail = try tail(log)
            #expect {
                _ = try tail.read(
                    limitBytes: .max, looksFurther: true,
                    isHeld: { _ in
                        try log.directory.openFile(FileName.segment(1).text, writable: true)
                            .truncate(to: 8192)
                        return false
                    }
                ) { _, _ in }
            } throws: { ($0 as? RoostError)?.code == .io }
            #expect(tail.lastSequence == 1)
        }
    }

    @Test func whatSomebodyWaitsForIsHeldBackUntilItIsOnDisk() async throws {
        try await withTemporaryDirectory { path in
            let log = try SampleLog(at: path)
            try log.append([1])
            try log.append([2], isAwaited: true)
            try log.append([3])
            var tail = try tail(log)
            #expect(try payloads(of: &tail, showsUnsynced: false, end: .unsynced) == [[1]])
            tail.noteDurable(2)
            #expect(try payloads(of: &tail, showsUnsynced: false) == [[2], [3]])
        }
    }

    /// A killed writer leaves a segment that was made ahead. The next opening counts on from that one, and where it writes
    /// nothing, takes both away; so the one after it begins with a lower number.
    @Test func aSegmentWithALowerNumberThanOneThatWasTakenAwayIsFound() async throws {
        try await withTemporaryDirectory { path in
            let killed = try SampleLog(at: path)
            try killed.append([1])
            var tail = try tail(killed)
            #expect(try payloads(of: &tail) == [[1]])

            func successor(_ number: UInt64) throws -> SampleLog {
                try SampleLog(
                    at: path, recovered: SampleRecovery(at: path).recovery, number: number)
            }
            let idle = try successor(4)
            #expect(try payloads(of: &tail).isEmpty)
            idle.writer.stopAppending()
            try idle.writer.close()

            let writer = try successor(2)
            #expect(try payloads(of: &tail).isEmpty)
            try writer.append([2])
            #expect(try payloads(of: &tail) == [[2]])
            for byte in UInt8(3)...6 {
                _ = try writer.writer.rotate()
                try writer.append([byte])
            }
            #expect(try payloads(of: &tail) == [[3], [4], [5], [6]])
            #expect(tail.segments.map(\.number) == [1, 2, 3, 4, 5, 6])
        }
    }

    /// As above, of one that was sealed as it was, for a smaller one.
    @Test func aSegmentWithTheNumberOfASealedOneWithoutABatchIsFound() async throws {
        try await withTemporaryDirectory { path in
            let first = try SampleLog(at: path, minimumSegmentSizeBytes: 8192)
            try first.append([1])
            first.writer.stopAppending()
            try first.writer.close()
            let idle = try SampleLog(
                at: path, sizeBytes: 65536, minimumSegmentSizeBytes: 8192,
                recovered: SampleRecovery(at: path).recovery)
            var tail = try tail(idle)
            #expect(try payloads(of: &tail) == [[1]])
            #expect(try payloads(of: &tail).isEmpty)
            try idle.writer.shrink()
            #expect(try payloads(of: &tail).isEmpty)
            idle.writer.stopAppending()
            try idle.writer.close()
            let last = try SampleLog(at: path, recovered: SampleRecovery(at: path).recovery)
            try last.append([2])
            #expect(try payloads(of: &tail) == [[2]])
        }
    }

    /// What a power cut has left of a segment's end, whose successor it has kept.
    enum Ending: CaseIterable {
        /// Of the seal no more than its first bytes.
        case halfASeal
        /// A frame that could not be written whole, and was cut off before the seal took its place.
        case somethingBehindTheSeal
        /// As above; of the page that the seal is on zeros.
        case somethingFurtherBehindTheSeal
        /// The cut, and not the seal.
        case nothing
    }

    /// A reader that came before the next opening showed a batch that the opening then cut off, and was told that
    /// the workspace had been put back.
    @Test(arguments: Ending.allCases)
    func nothingIsShownBehindASegmentThatAnOpeningCuts(ending: Ending) async throws {
        try await withTemporaryDirectory { path in
            let log = try SampleLog(at: path)
            try log.append([1])
            _ = try log.writer.rotate()
            try log.append([2])
            log.writer.abandon()
            let file = try log.directory.openFile(FileName.segment(1).text, writable: true)
            let seal = UInt64(SegmentHeader.sizeBytes + Frame.sizeBytes(payloadCount: 1))
            let zeros = [UInt8](repeating: 0, count: Frame.headerSizeBytes - 8)
            switch ending {
            case .halfASeal: try zeros.withUnsafeBytes { try file.write($0, at: seal + 8) }
            case .somethingBehindTheSeal:
                try [UInt8](repeating: 9, count: 8).withUnsafeBytes {
                    try file.write($0, at: seal + UInt64(Frame.headerSizeBytes) + 16)
                }
            case .somethingFurtherBehindTheSeal:
                try [UInt8](repeating: 9, count: 8).withUnsafeBytes { try file.write($0, at: 6000) }
            case .nothing: try file.truncate(to: seal)
            }
            var tail = try tail(log)
            #expect(try payloads(of: &tail) == [[1]])
            #expect(try payloads(of: &tail).isEmpty)
            let recovered = try SampleRecovery(at: path)
            #expect(recovered.payloads == [[1]])
            let next = try SampleLog(at: path, recovered: recovered.recovery)
            try next.append([3])
            #expect(try payloads(of: &tail) == [[3]])
        }
    }

    /// As above, of one that an opening which wrote nothing had begun.
    @Test func nothingIsShownBehindASegmentThatWasBegunByHalf() async throws {
        try await withTemporaryDirectory { path in
            let first = try SampleLog(at: path)
            try first.append([1])
            first.writer.abandon()
            let idle = try SampleLog(at: path, recovered: SampleRecovery(at: path).recovery)
            idle.writer.abandon()
            let killed = try SampleLog(at: path, recovered: SampleRecovery(at: path).recovery)
            try killed.append([2])
            killed.writer.abandon()
            let zeros = [UInt8](repeating: 0, count: SegmentHeader.sizeBytes / 2)
            let file = try killed.directory.openFile(FileName.segment(2).text, writable: true)
            try zeros.withUnsafeBytes { try file.write($0, at: UInt64(zeros.count)) }
            var tail = try tail(killed)
            #expect(try payloads(of: &tail) == [[1]])
            let recovered = try SampleRecovery(at: path)
            #expect(recovered.payloads == [[1]])
            let next = try SampleLog(at: path, recovered: recovered.recovery)
            try next.append([3])
            #expect(try payloads(of: &tail) == [[3]])
        }
    }

    @Test func segmentsThatAreGoneAreMissedAndALogThatWasPutBackIsRefused() async throws {
        try await withTemporaryDirectory { path in
            let log = try SampleLog(at: path)
            try log.append([1])
            var tail = try tail(log)
            #expect(try payloads(of: &tail) == [[1]])
            try log.append([2])
            _ = try log.writer.rotate()
            try log.append([3])
            var late = try self.tail(log)
            try log.directory.remove(FileName.segment(1).text)
            #expect(try payloads(of: &late, end: .missing).isEmpty)
            // Who has it open reads it on.
            #expect(try payloads(of: &tail) == [[2], [3]])
            try await withTemporaryDirectory { other in
                let earlier = try SampleLog(at: other)
                try earlier.append([1])
                var manifest = ManifestRecord(
                    workspace: SampleLog.workspace, hashSeed: .init(first: 0, second: 0))
                manifest.flushedSequence = 8
                var further = try LogTail(manifest, in: earlier.directory)
                #expect(throws: RoostError.self) { try payloads(of: &further) }
            }
        }
    }
}
