import Foundation
import RoostFormat
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

@testable import RoostLog

@Suite struct RotationTests {
    static let allowsMapping = [true, false]

    @Test(arguments: [4096, 8192, 65_536], allowsMapping)
    func framesOfManySizesSurviveManyRotations(sizeBytes: Int, allowsMapping: Bool) async throws {
        var random = SeededGenerator(seed: testSeed())
        let fileSystem = PosixFileSystem(allowsMapping: allowsMapping)
        try await withTemporaryDirectory { path in
            let log = try SampleLog(at: path, fileSystem: fileSystem, sizeBytes: sizeBytes)
            var payloads: [[UInt8]] = []
            for index in 0..<200 {
                let size =
                    switch random.below(10) {
                    case 0: 0
                    case 1: sizeBytes - SegmentHeader.sizeBytes - 48 - random.below(80)
                    case 2: random.below(3 << 10)
                    default: random.below(200)
                    }
                payloads.append([UInt8](repeating: UInt8(index), count: size))
                let appended = try log.append(payloads[index])
                #expect(appended.sequence == UInt64(index + 1))
                if random.once(in: 20) { _ = try log.writer.rotate() }
                if random.once(in: 20) { try await log.prepareStandby() }
                if random.once(in: 20) {
                    try await log.syncer.sync()
                    #expect(log.writer.durableSequence == UInt64(index + 1))
                }
            }
            // As a crash leaves it, and then closed.
            #expect(
                try SampleRecovery(at: path, fileSystem: fileSystem, cuts: false).payloads
                    == payloads)
            log.writer.stopAppending()
            try await log.syncer.sync()
            try log.writer.close()
            let found = try SampleRecovery(at: path, fileSystem: fileSystem, durableSequence: 200)
            #expect(found.payloads == payloads)
            #expect(found.recovery.tornTails.isEmpty)
            #expect(found.recovery.blankSegments.isEmpty)
        }
    }

    @Test func aLogAtRestShrinksAndGoesOn() async throws {
        try await withTemporaryDirectory { path in
            let log = try SampleLog(at: path, sizeBytes: 4096)
            for byte in 1...3 as ClosedRange<UInt8> {
                try log.append([byte])
                _ = try log.writer.rotate()
            }
            try await log.prepareStandby()
            let size = try fileNames(in: path, prefix: "log").map {
                try readBytes("\(path)/\($0)").count
            }
            #expect(size == [4096, 1 << 20, 2 << 20, 4 << 20, 8 << 20])
            try log.writer.shrink()
            #expect(log.writer.history.segments.map(\.number) == [1, 2, 3, 6])
            let names = try fileNames(in: path, prefix: "log")
            #expect(names == [1, 2, 3, 6].map { FileName.segment($0).text })
            #expect(try readBytes("\(path)/\(names[3])").count == 1 << 20)
            // Small already, and then not empty.
            try log.writer.shrink()
            try log.append([4], isAwaited: true)
            try await log.syncer.sync()
            try log.writer.shrink()
            #expect(try fileNames(in: path, prefix: "log") == names)
            _ = try log.writer.rotate()
            try log.append([5])
            let found = try SampleRecovery(at: path, cuts: false)
            let expected: [[UInt8]] = [[1], [2], [3], [4], [5]]
            #expect(found.payloads == expected)
            #expect(found.recovery.tornTails.isEmpty)
        }
    }

    /// The story: on a full disk a segment could not be made, nor what there was of it removed. Each later append wanted to
    /// make it again, under the name that was there, and failed also once there was room.
    @Test func aSegmentThatCouldNotBeRemovedIsInNobodysWay() async throws {
        try await withTemporaryDirectory { path in
            let fails = Atomic(false)
            let fileSystem = ObservedFileSystem { call in
                guard fails.load(ordering: .relaxed) else { return }
                switch call {
                case .preallocate, .remove:
                    throw RoostError(.outOfSpace, "the test let this call fail")
                default: return
                }
            }
            let log = try SampleLog(at: path, fileSystem: fileSystem, sizeBytes: 4096)
            try log.append([1])
            fails.store(true, ordering: .relaxed)
            #expect(throws: RoostError.self) { _ = try log.writer.rotate() }
            fails.store(false, ordering: .relaxed)
            _ = try log.writer.rotate()
            try log.append([2])
            let found = try SampleRecovery(at: path)
            let expected: [[UInt8]] = [[1], [2]]
            #expect(found.payloads == expected)
            #expect(found.recovery.tornTails.isEmpty)
            // The next opening removes it.
            let names = try fileNames(in: path, prefix: "log")
            #expect(names == [1, 3].map { FileName.segment($0).text })
        }
    }

    /// The story: a log that had grown fast wanted 64 MiB for its next segment. On a disk that had less left the flush failed
    /// that would have made room.
    @Test func aFlushRotatesToASmallSegmentWhereThereIsNoRoomForMore() async throws {
        try await withTemporaryDirectory { path in
            let fails = Atomic(false)
            let fileSystem = ObservedFileSystem { call in
                guard case .preallocate = call, fails.exchange(false, ordering: .relaxed) else {
                    return
                }
                throw RoostError(.outOfSpace, "the test let this call fail")
            }
            let log = try SampleLog(
                at: path, fileSystem: fileSystem, sizeBytes: 8192, minimumSegmentSizeBytes: 4096,
                makesReady: true)
            try log.append([1])
            fails.store(true, ordering: .relaxed)
            let boundary = try await log.writer.rotateWithoutWaiters()
            #expect(boundary.lastSequence == 1)
            let isFailing = fails.load(ordering: .relaxed)
            #expect(!isFailing)
            #expect(log.writer.history.segments.last?.region.sizeBytes == 4096)
            try log.append([2])
            let found = try SampleRecovery(at: path)
            #expect(found.payloads == [[1], [2]])
            #expect(found.recovery.tornTails.isEmpty)
        }
    }

    /// The smaller segment was begun, and what was made ahead went on in its place: an opening found its header
    /// after frames with the same numbers, and refused the log or cut off what followed.
    @Test(arguments: 1...3)
    func whereThereIsNoRoomToShrinkNothingIsLost(failing: Int) async throws {
        try await withTemporaryDirectory { path in
            let countdown = Atomic<Int>(.max)
            let fileSystem = ObservedFileSystem { call in
                guard case .write = call else { return }
                let left = countdown.wrappingSubtract(1, ordering: .sequentiallyConsistent).newValue
                if left == 0 { throw RoostError(.outOfSpace, "the test let this write fail") }
            }
            let log = try SampleLog(at: path, fileSystem: fileSystem, sizeBytes: 4096)
            try log.append([1])
            _ = try log.writer.rotate()
            try log.append([2])
            _ = try log.writer.rotate()
            try await log.prepareStandby()
            countdown.store(failing, ordering: .sequentiallyConsistent)
            if failing <= 2 {
                #expect {
                    try log.writer.shrink()
                } throws: {
                    ($0 as? RoostError)?.code == .outOfSpace
                }
            } else {
                try log.writer.shrink()
            }
            countdown.store(.max, ordering: .sequentiallyConsistent)
            for byte in 3...5 as ClosedRange<UInt8> {
                try log.append([byte], isAwaited: true)
                try await log.syncer.sync()
                _ = try log.writer.rotate()
            }
            try log.append([6])
            let payloads = (1...6 as ClosedRange<UInt8>).map { [$0] }
            #expect(try SampleRecovery(at: path, cuts: false).payloads == payloads)
            log.writer.stopAppending()
            try await log.syncer.sync()
            try log.writer.close()
            let found = try SampleRecovery(at: path, durableSequence: 6)
            #expect(found.payloads == payloads)
            #expect(found.recovery.tornTails.isEmpty)
        }
    }

    @Test func aLogAtRestGoesOnInTheSmallestSegment() async throws {
        try await withTemporaryDirectory { path in
            let log = try SampleLog(at: path, sizeBytes: 4096, makesReady: true)
            for byte in 1...3 as ClosedRange<UInt8> {
                try log.append([byte])
                _ = try await log.writer.rotateWithoutWaiters()
            }
            try log.append([4])
            // Also where a larger one was made ahead.
            try await log.prepareStandby()
            let boundary = try await log.writer.rotateToSmallest()
            #expect(boundary.lastSequence == 4)
            let names = try fileNames(in: path, prefix: "log")
            #expect(names.last == FileName.segment(boundary.segmentNumber).text)
            #expect(try readBytes("\(path)/\(names.last!)").count == 1 << 20)
            #expect(names.count == log.writer.history.segments.count)
            // Nothing to rotate.
            #expect(try await log.writer.rotateToSmallest().segmentNumber == boundary.segmentNumber)
            try log.append([5])
            #expect(
                try SampleRecovery(at: path, cuts: false).payloads == [[1], [2], [3], [4], [5]])
        }
    }

    @Test func segmentsAreAsLargeAsTheLogGrowsFast() throws {
        let second = Duration.seconds(1)
        func next(_ sizeBytes: Int, _ appended: Int, after time: Duration) throws -> Int {
            try withPlainDirectory { path in
                let log = try SampleLog(
                    at: path, sizeBytes: sizeBytes, minimumSegmentSizeBytes: 1 << 20)
                return log.writer.state.withLock { state in
                    state.offset = appended
                    state.noteEnd(at: time)
                    return log.writer.nextSizeBytes(state)
                }
            }
        }
        // Never more than twice the current one, nor less than the smallest.
        #expect(try next(4 << 20, 4 << 20, after: .milliseconds(1)) == 8 << 20)
        #expect(try next(64 << 20, 64 << 20, after: .milliseconds(1)) == 64 << 20)
        #expect(try next(4 << 20, 4 << 20, after: second * 60) == 1 << 20)
        // What comes in a quarter of a second.
        #expect(try next(8 << 20, 8 << 20, after: second) == 2 << 20)
        // Of a few bytes nothing follows.
        #expect(try next(4 << 20, 4096, after: second * 60) == 8 << 20)
    }

    private func withPlainDirectory<Result>(_ body: (String) throws -> Result) throws -> Result {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("roost-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: url) } }
        return try body(url.path)
    }

    @Test(arguments: allowsMapping)
    func aFrameLargerThanASegmentGetsOneOfItsOwn(allowsMapping: Bool) async throws {
        let fileSystem = PosixFileSystem(allowsMapping: allowsMapping)
        try await withTemporaryDirectory { path in
            let log = try SampleLog(at: path, fileSystem: fileSystem, sizeBytes: 4096)
            let large = [UInt8](repeating: 5, count: 3 << 20)
            try log.append([1])
            try await log.prepareStandby()
            try log.append(large)
            try log.append([2])
            try log.append(large)
            let found = try SampleRecovery(at: path, fileSystem: fileSystem, cuts: false)
            #expect(found.payloads == [[1], large, [2], large])
        }
    }

    @Test func aClosedLogIsCutToItsLengthAndRefusesFrames() async throws {
        try await withTemporaryDirectory { path in
            let log = try SampleLog(at: path, sizeBytes: 65_536)
            try log.append([1, 2, 3])
            try await log.prepareStandby()
            log.writer.stopAppending()
            try await log.syncer.sync()
            try log.writer.close()
            try log.writer.close()
            #expect(try fileNames(in: path, prefix: "log") == [FileName.segment(1).text])
            #expect(try readBytes(segmentPath(path, 1)).count == 64 + 32 + 24)
            #expect { try log.append([1]) } throws: { ($0 as? RoostError)?.code == .closed }
            #expect { _ = try log.writer.rotate() } throws: { ($0 as? RoostError)?.code == .closed }
        }
    }

    @Test func aLogThatIsAboutToBeClosedTakesNoMoreFrames() async throws {
        try await withTemporaryDirectory { path in
            let log = try SampleLog(at: path, sizeBytes: 65_536)
            try log.append([1, 2, 3])
            log.writer.stopAppending()
            // Large enough for a segment of its own.
            for payload in [[4], [UInt8](repeating: 5, count: 70_000)] {
                #expect { try log.append(payload) } throws: {
                    ($0 as? RoostError)?.code == .closed
                }
            }
            #expect(log.writer.lastSequence == 1)
            try await log.syncer.sync()
            try log.writer.close()
            #expect(try fileNames(in: path, prefix: "log") == [FileName.segment(1).text])
            let found = try SampleRecovery(at: path)
            #expect(found.payloads == [[1, 2, 3]])
        }
    }

    @Test func aLogThatWasNeverWrittenToRecovers() async throws {
        try await withTemporaryDirectory { path in
            var recovered: LogRecovery?
            for _ in 0..<4 {
                let log = try SampleLog(at: path, sizeBytes: 4096, recovered: recovered)
                _ = try log.writer.rotate()
                let found = try SampleRecovery(at: path)
                #expect(found.recovery.lastSequence == 0)
                #expect(found.recovery.tornTails.isEmpty)
                recovered = found.recovery
            }
        }
    }

    /// The story: a segment is created ahead while a writer that cannot wait begins a later one;
    /// the process dies before the one created ahead is given up. It is blank, it stands between
    /// two with frames, and what follows it had been acknowledged.
    @Test func aBlankSegmentAmongOthersTakesNothingWithIt() async throws {
        try await withTemporaryDirectory { path in
            let log = try SampleLog(at: path, sizeBytes: 4096)
            try log.append([1])
            _ = try log.writer.rotate()
            try log.append([2])
            try FileManager.default.moveItem(
                atPath: segmentPath(path, 2), toPath: segmentPath(path, 3))
            try restamp(segmentPath(path, 3), number: 3)
            try writeBytes([UInt8](repeating: 0, count: 1 << 20), to: segmentPath(path, 2))
            let found = try SampleRecovery(at: path)
            #expect(found.payloads == [[1], [2]])
            #expect(found.recovery.tornTails.isEmpty)
            #expect(found.recovery.blankSegments == [2])
            #expect(try SampleRecovery(at: path).payloads == [[1], [2]])
        }
    }

    /// Rewrites a segment of one frame for another number.
    private func restamp(_ path: String, number: UInt64) throws {
        var bytes = try readBytes(path)
        bytes.withUnsafeMutableBytes { bytes in
            let start = bytes.baseAddress!
            guard case .valid(var header) = SegmentHeader.read(UnsafeRawBufferPointer(bytes)) else {
                Issue.record("no header")
                return
            }
            header.number = number
            header.write(to: start)
            Frame.finish(
                at: start + 64, payloadCount: 1, sequence: 2, durableSequence: 0, flags: [],
                seed: header.seed)
        }
        try writeBytes(bytes, to: path)
    }

    /// To preallocate a segment can take the file system hundreds of milliseconds: no writer may be
    /// the one who waits for it.
    @Test(arguments: [false, true])
    func theNextSegmentIsThereBeforeItIsNeeded(isAwaited: Bool) async throws {
        try await withTemporaryDirectory { path in
            let log = try SampleLog(at: path, sizeBytes: 4096, makesReady: true)
            func appears(_ number: UInt64) async throws {
                let name = FileName.segment(number).text
                for _ in 0..<2000 {
                    if try fileNames(in: path, prefix: "log").contains(name) { return }
                    try await Task.sleep(for: .milliseconds(5))
                }
                Issue.record("segment \(number) was not made")
            }
            let payload = [UInt8](repeating: 7, count: 1000)
            // The first may be all that is ever needed.
            try log.append(payload, isAwaited: isAwaited)
            try log.append([1], isAwaited: isAwaited)
            await log.ahead.finish()
            #expect(try fileNames(in: path, prefix: "log").count == 1)
            try log.append(payload, isAwaited: isAwaited)
            try await appears(2)
            await log.ahead.finish()
            while log.writer.currentSegmentNumber == 1 {
                try log.append(payload, isAwaited: isAwaited)
            }
            // It is the one that was made, and what comes after it is asked for at half of it.
            #expect(log.writer.currentSegmentNumber == 2)
            for _ in 0..<600 { try log.append(payload, isAwaited: isAwaited) }
            try await appears(3)
            let boundary = try await log.writer.rotateWithoutWaiters()
            #expect(boundary.segmentNumber == 3)
            // And that of a larger one at its begin.
            try log.append(payload, isAwaited: isAwaited)
            try await appears(4)
            log.writer.stopAppending()
            await log.ahead.finish()
            try await log.syncer.sync()
            try log.writer.close()
            #expect(
                try fileNames(in: path, prefix: "log")
                    == [1, 2, 3].map { FileName.segment($0).text })
        }
    }

    /// The story: an optimized build did not wait, and a segment that was in the making at a close came and went in a
    /// directory that was another opening's by then.
    @Test func whatIsInTheMakingAtTheEndIsWaitedFor() async throws {
        try await withTemporaryDirectory { path in
            let gate = Gate()
            let fileSystem = ObservedFileSystem { call in
                if case .createFile(let name) = call, name.hasPrefix("log-") { gate.pass() }
            }
            let sample = try SampleLog(at: path, fileSystem: fileSystem, makesReady: true)
            try sample.append([1])
            gate.close()
            sample.ahead.beginStandby(of: sample.writer)
            await gate.waitForArrival()
            sample.writer.stopAppending()
            let flag = Flag()
            let finishing = Task {
                await sample.ahead.finish()
                flag.isSet.store(true, ordering: .relaxed)
            }
            try await Task.sleep(for: .milliseconds(50))
            let isFinished = flag.isSet.load(ordering: .relaxed)
            #expect(!isFinished)
            gate.open()
            await finishing.value
            #expect(try fileNames(in: path, prefix: "log-").count == 1)
        }
    }

    /// The story: it went on one step with each frame, so that large frames left it behind: what they had filled was made
    /// ready again.
    @Test func whatIsMadeReadyLiesAheadOfLargeFrames() {
        var offsets = LogWriter.AheadOffsets(
            sizeBytes: 64 << 20, isSmallest: false, isPrefaulted: true)
        let step = LogAhead.aheadBytes
        var offset = SegmentHeader.sizeBytes
        for _ in 0..<10 {
            offset += 4 << 20
            let begin = offsets.takePrefault(at: offset, of: 64 << 20)
            #expect(begin.map { $0 + step > offset } == true)
        }
    }
}

private final class Flag: Sendable {
    let isSet = Atomic(false)
}
