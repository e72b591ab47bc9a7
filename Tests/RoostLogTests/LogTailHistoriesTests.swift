import Foundation
import RoostFormat
import RoostIO
import RoostLog
import RoostTestSupport
import Testing

/// A reader beside one writer after another, of which some write nothing, and some are killed: with segments that were
/// made ahead, emptied or begun, and with a batch that is not whole.
@Suite struct LogTailHistoriesTests {
    @Test func aReaderHasEveryBatchWhateverBecomesOfTheWriters() async throws {
        let seed = testSeed()
        for history in 0..<60 {
            let seed = seed &+ UInt64(history)
            try await withTemporaryDirectory { path in
                var history = History(path: path, seed: seed)
                try await history.run()
            }
        }
    }

    private struct History {
        let path: String
        let seed: UInt64
        var random: SeededGenerator
        var written: [[UInt8]] = []
        var read: [[UInt8]] = []

        init(path: String, seed: UInt64) {
            self.path = path
            self.seed = seed
            random = SeededGenerator(seed: seed)
        }

        mutating func run() async throws {
            var log = try open(nil)
            var tail = try LogTail(
                ManifestRecord(
                    workspace: SampleLog.workspace, hashSeed: .init(first: 0, second: 0)),
                in: log.directory)
            for _ in 0..<(10 + random.below(50)) {
                switch random.below(10) {
                case 0...3: try append(to: log)
                case 4: _ = try log.writer.rotate()
                case 5: try log.writer.shrink()
                case 6: try await log.prepareStandby()
                default:
                    if random.once(in: 2) { try kill(log) } else { try close(log) }
                    if random.once(in: 2) { try look(&tail) }
                    log = try open(SampleRecovery(at: path).recovery)
                }
                if random.once(in: 2) { try look(&tail) }
            }
            try append(to: log)
            try look(&tail)
            #expect(read == written, "seed \(seed)")
            log.writer.abandon()
        }

        private mutating func open(_ recovered: LogRecovery?) throws -> SampleLog {
            try SampleLog(
                at: path, sizeBytes: 8192 << random.below(3), minimumSegmentSizeBytes: 8192,
                recovered: recovered)
        }

        private mutating func append(to log: SampleLog) throws {
            let bytes = random.bytes(1 + random.below(random.once(in: 10) ? 12_000 : 300))
            try log.append(bytes)
            written.append(bytes)
        }

        private func close(_ log: SampleLog) throws {
            log.writer.stopAppending()
            try log.writer.close()
        }

        private mutating func kill(_ log: SampleLog) throws {
            if random.once(in: 3) {
                // The checksum is stored last, and was not.
                let torn = try log.append(random.bytes(100))
                UnsafeMutableRawPointer(bitPattern: torn.location)!.storeBytes(
                    of: 0, as: UInt32.self)
            }
            log.writer.abandon()
        }

        private mutating func look(_ tail: inout LogTail) throws {
            var found: [[UInt8]] = []
            let end = try tail.read(
                limitBytes: .max, looksFurther: true, isHeld: { _ in false }
            ) { frame, _ in
                let start = frame.start + Frame.headerSizeBytes
                found.append(
                    Array(UnsafeRawBufferPointer(start: start, count: frame.payloadCount)))
            }
            try #require(end == .log, "seed \(seed)")
            read += found
        }
    }
}
