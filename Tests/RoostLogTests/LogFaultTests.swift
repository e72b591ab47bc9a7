import RoostFormat
import RoostIO
import RoostLog
import RoostTestSupport
import Testing

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

    /// Behind half a payload nothing could be found again, so what follows goes to another segment.
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
