import RoostFormat
import RoostIO
import RoostLog
import RoostTestSupport
import Synchronization
import Testing

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

@Suite struct LogFaultTests {
    /// Lets each changing call fail once, in turn, and goes on writing: what was acknowledged,
    /// before and after, is found.
    @Test(arguments: [true, false])
    func oneFailedCallLosesNothingThatWasAcknowledged(allowsMapping: Bool) async throws {
        let base = PosixFileSystem(allowsMapping: allowsMapping)
        for failing in stride(from: 1, to: 200, by: 2) {
            let isDone = try await withTemporaryDirectory { path in
                let plan = FaultPlan(failAt: failing, isCrash: false)
                let log = try? SampleLog(
                    at: path, fileSystem: plan.fileSystem(base), sizeBytes: 4096)
                guard let log else { return false }
                var acknowledged: [[UInt8]] = []
                for number in 0..<24 {
                    let payload = [UInt8](repeating: UInt8(number), count: 100 + 450 * (number % 3))
                    do {
                        try log.append(payload, isAwaited: number % 2 == 0)
                        acknowledged.append(payload)
                    } catch { #expect(error is RoostError) }
                    if number % 5 == 0 { do { try await log.prepareStandby() } catch {} }
                    if number % 9 == 0 { do { _ = try log.writer.rotate() } catch {} }
                }
                let found = try SampleRecovery(at: path, fileSystem: base, cuts: false)
                #expect(found.payloads == acknowledged, "call \(failing) failed")
                return plan.callCount <= failing
            }
            if isDone { return }
        }
        Issue.record("the log makes more calls than were tried")
    }

    /// After half a payload nothing could be found again, so what follows goes to another segment.
    @Test func whereALargePayloadCannotBeWrittenTheNextGoesElsewhere() async throws {
        try await withTemporaryDirectory { path in
            let plan = FaultPlan(isCrash: false)
            let log = try SampleLog(at: path, fileSystem: plan.fileSystem())
            let large = [UInt8](repeating: 7, count: SampleLog.minimumCallSizeBytes)
            try log.append(large, isAwaited: true)
            try log.append(large)
            plan.failNext()
            #expect {
                try log.append(large, isAwaited: true)
            } throws: {
                ($0 as? RoostError)?.code == .io
            }
            #expect(log.writer.currentSegmentNumber == 1)
            let later = [UInt8](repeating: 8, count: SampleLog.minimumCallSizeBytes)
            try log.append(later, isAwaited: true)
            #expect(log.writer.currentSegmentNumber == 2)
            let found = try SampleRecovery(at: path)
            #expect(found.payloads == [large, large, later])
            #expect(found.recovery.tornTails.isEmpty)
        }
    }

    /// Seeds 300124766, 300096742 and 300331238. A frame could not be written whole, but for its
    /// padding it was; the sync of the frame before brought it to disk, and a power cut took what had
    /// cut it off since. The opening showed the write that had failed, in place of the next one.
    @Test func nothingOfAFrameThatFailedStaysInTheFile() async throws {
        try await withTemporaryDirectory { path in
            let plan = FaultPlan(isCrash: false)
            let fileSystem = plan.fileSystem(PosixFileSystem(allowsMapping: false))
            let log = try SampleLog(at: path, fileSystem: fileSystem)
            try log.append([1])
            let end = SegmentHeader.sizeBytes + Frame.sizeBytes(payloadCount: 1)
            plan.failNext()
            #expect(throws: RoostError.self) { try log.append([UInt8](repeating: 0, count: 90)) }
            #expect(try readBytes(segmentPath(path, 1)).count == end)
            try log.append([2])
            #expect(try SampleRecovery(at: path).payloads == [[1], [2]])
        }
    }

    /// The story: a page of the segment was not there, so that private memory stood in its place, and the frame that came
    /// next could not be written by a call either. The memory showed it on, and who reads the log from memory was given
    /// it in place of the frame that had its number then, in the next segment.
    @Test func aFrameThatFailedIsNotShownOnByThePageThatIsNoLongerTheFiles() async throws {
        try await withTemporaryDirectory { path in
            let plan = FaultPlan(isCrash: false)
            let log = try SampleLog(at: path, fileSystem: plan.fileSystem(), sizeBytes: 16384)
            let end = 4096
            try log.append(
                [UInt8](
                    repeating: 1, count: end - SegmentHeader.sizeBytes - Frame.headerSizeBytes))
            try #require(truncate(segmentPath(path, 1), off_t(end)) == 0)
            plan.failNext()
            #expect(throws: RoostError.self) { try log.append([2]) }
            try log.append([3])
            let segments = log.writer.history.segments
            try #require(segments.count == 2)
            #expect(segments[0].region.replacedPageCount == 1)
            let failed = Frame.view(
                in: segments[0].region.bytes, at: end, seed: segments[0].seed)
            #expect(failed == nil)
            let next = Frame.view(
                in: segments[1].region.bytes, at: SegmentHeader.sizeBytes, seed: segments[1].seed)
            #expect(next?.sequence == 2)
        }
    }

    /// The story: the file was cut before the page that the next frame begins on, a reader's look put zeros in that page's
    /// place, and the file came back. The payload was written by a call, which the page did not see: the checksum was
    /// made of zeros, and the page written over the payload. The opening found a frame that checks and says nothing.
    @Test(arguments: [true, false])
    func aLargePayloadIsNotWrittenBesideAPageThatIsNoLongerTheFiles(isAwaited: Bool) async throws {
        try await withTemporaryDirectory { path in
            let log = try SampleLog(at: path, sizeBytes: 32 << 10)
            let small = [UInt8](repeating: 1, count: 5000)
            try log.append(small)
            let segment = try #require(log.writer.history.segments.first)
            let saved = try readBytes(segmentPath(path, 1))
            try #require(truncate(segmentPath(path, 1), 4096) == 0)
            #expect(segment.region.bytes[4096] == 0)
            #expect(segment.region.replacedPageCount == 1)
            try writeBytes(saved, to: segmentPath(path, 1))
            let large = [UInt8](repeating: 7, count: 6000)
            try log.append(large, isAwaited: isAwaited)
            try log.append(small)
            #expect(try SampleRecovery(at: path).payloads == [small, large, small])
        }
    }

    /// The story: another program cut the segment, and the next large payload was written by a call, which made the file as
    /// long as it had been. Zeros stood for what was missing, and no look at them was told so.
    @Test(arguments: [true, false], [true, false])
    func aCutSegmentIsNotMadeLongerByACall(allowsMapping: Bool, isAwaited: Bool) async throws {
        try await withTemporaryDirectory { path in
            let log = try SampleLog(
                at: path, fileSystem: PosixFileSystem(allowsMapping: allowsMapping),
                sizeBytes: 64 << 10)
            for _ in 0..<5 { try log.append([UInt8](repeating: 1, count: 4000)) }
            try #require(truncate(segmentPath(path, 1), 8192) == 0)
            #expect {
                try log.append([UInt8](repeating: 7, count: 6000), isAwaited: isAwaited)
            } throws: {
                let error = $0 as? RoostError
                return error?.code == .poisoned && (error?.cause as? RoostError)?.code == .io
            }
            #expect(try readBytes(segmentPath(path, 1)).count == 8192)
            #expect(throws: RoostError.self) { try log.append([1]) }
        }
    }

    /// A reader beside the writer, by calls: the writer cuts the segment and seals it between the reader's two looks at how
    /// long it is.
    @Test func aSegmentThatIsCutWhileItIsReadIsReadWithinItsMemory() throws {
        let directory = CutDirectory()
        let reader = try LogReader(number: 1, in: directory, writable: false, copies: true)
        #expect(reader.region.sizeBytes == CutDirectory.keptSizeBytes)
        let readSizeBytes = directory.file.readSizeBytes.load(ordering: .relaxed)
        #expect(readSizeBytes == CutDirectory.keptSizeBytes)
        #expect(reader.contentEnd(from: 0) == CutDirectory.keptSizeBytes)
    }

    @Test func afterAFailedSyncNothingIsReportedDurable() async throws {
        try await withTemporaryDirectory { path in
            let plan = FaultPlan(isCrash: false)
            let log = try SampleLog(at: path, fileSystem: plan.fileSystem())
            try log.append([1])
            plan.failNext()
            for _ in 0..<3 {
                await #expect { try await log.syncer.sync() } throws: {
                    ($0 as? RoostError)?.code == .poisoned
                }
            }
            #expect(log.writer.durableSequence == 0)
        }
    }

    /// What waited for the sync is given up, and the next opening may find it all the same: nothing comes behind it.
    @Test func afterAFailedSyncNothingIsAppended() async throws {
        try await withTemporaryDirectory { path in
            let plan = FaultPlan(isCrash: false)
            let log = try SampleLog(at: path, fileSystem: plan.fileSystem())
            try log.append([1])
            plan.failNext()
            await #expect(throws: RoostError.self) { try await log.syncer.sync() }
            #expect {
                try log.append([2])
            } throws: {
                ($0 as? RoostError)?.code == .poisoned
            }
            #expect(log.writer.lastSequence == 1)
        }
    }

    @Test func oneSyncServesAllThatWait() async throws {
        try await withTemporaryDirectory { path in
            let gate = Gate()
            let fileSystem = ObservedFileSystem { call in
                if case .syncData = call { gate.pass() }
            }
            let log = try SampleLog(at: path, fileSystem: fileSystem)
            let syncer = log.syncer
            gate.close()
            let first = try log.append([0], isAwaited: true)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await syncer.sync(through: first.sequence) }
                await gate.waitForArrival()
                for number in 1...100 {
                    let sequence = try log.append([UInt8(number)], isAwaited: true).sequence
                    group.addTask { try await syncer.sync(through: sequence) }
                }
                gate.open()
                try await group.waitForAll()
            }
            #expect(log.writer.durableSequence == 101)
            #expect(log.syncer.syncCount == 2)
        }
    }
}

/// A directory with one file, which is shorter from the second look on. For `LogReader` alone.
private struct CutDirectory: Directory {
    static let writtenSizeBytes = 8192
    static let keptSizeBytes = 4096

    let file = CutFile()
    let path = "cut"

    func openFile(_ name: String, writable: Bool) throws -> any File { file }
    func entries() throws -> [DirectoryEntry] { [] }
    func lock(exclusive: Bool, patience: Duration) throws {}
    func unlock() throws {}
    func sync() throws {}

    private var refusal: RoostError { RoostError(.io, "the test changes nothing", file: path) }
    func createFile(_ name: String) throws -> any File { throw refusal }
    func rename(_ source: String, to target: String) throws { throw refusal }
    func remove(_ name: String) throws { throw refusal }
}

private final class CutFile: File {
    let readSizeBytes = Atomic(0)
    let path = "cut/log"

    func writtenEnd() throws -> UInt64 { UInt64(CutDirectory.writtenSizeBytes) }
    func sizeBytes() throws -> UInt64 { UInt64(CutDirectory.keptSizeBytes) }

    /// As much as is asked for, by a writer that has gone on; within what there is room for.
    func readUp(to buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
        readSizeBytes.store(buffer.count, ordering: .relaxed)
        let count = min(buffer.count, CutDirectory.keptSizeBytes)
        for index in 0..<count { buffer[index] = 7 }
        return count
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws {
        _ = try readUp(to: buffer, at: offset)
    }

    func map(sizeBytes: Int, writable: Bool) throws -> MappedRegion? { nil }
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {}
    func preallocate(sizeBytes: UInt64) throws {}
    func truncate(to sizeBytes: UInt64) throws {}
    func syncData() throws {}
}
