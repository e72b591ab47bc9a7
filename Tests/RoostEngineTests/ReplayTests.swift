import RoostFormat
import RoostIO
import Synchronization
import Testing

@testable import RoostEngine

/// The tables that an opening makes of the log.
@Suite struct ReplayTests {
    private static let seed = ChecksumSeed(3).part(1)
    private static let frameCount = 40
    private static let frameOperationCount = 1024

    private static func key(_ number: Int) -> [UInt8] {
        [1, 100] + withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    /// Frames of removals of as many keys as there are numbers.
    private static func makeLog() -> MappedRegion {
        let operationSize = Operation.headerSizeBytes + key(0).count
        let payloadCount = frameOperationCount * operationSize
        let frameSize = Frame.sizeBytes(payloadCount: payloadCount)
        let region = MappedRegion.anonymous(sizeBytes: frameCount * frameSize)
        for frame in 0..<frameCount {
            let start = region.base + frame * frameSize
            for index in 0..<frameOperationCount {
                let offset = Frame.headerSizeBytes + index * operationSize
                let key = key(frame * frameOperationCount + index)
                Operation.writeHeader(
                    to: start + offset, kind: .remove, keyCount: key.count, valueCount: 0,
                    frameOffset: offset)
                key.withUnsafeBytes {
                    (start + offset + Operation.headerSizeBytes).copyMemory(
                        from: $0.baseAddress!, byteCount: $0.count)
                }
            }
            Frame.finish(
                at: start, payloadCount: payloadCount, sequence: UInt64(frame + 1),
                durableSequence: 0, flags: [], seed: seed)
        }
        return region
    }

    /// Foundation's `Thread` did not say that there was none, and the opening waited for it for ever, with the lock.
    @Test(.timeLimit(.minutes(5)), arguments: [0, 2, Int.max])
    func whereTheSystemHasNoThreadTheTablesAreFilledWithoutOne(refusalCount: Int) throws {
        let asked = Atomic(0)
        let region = Self.makeLog()
        var replay = Replay(
            shardCount: 4, hashSeed: sampleSeed,
            startedBy: { name, stackSizeBytes, body in
                let before = asked.wrappingAdd(1, ordering: .relaxed).oldValue
                return before < refusalCount
                    ? false : StartedThread.bySystem(name, stackSizeBytes, body)
            })
        var offset = 0
        while let frame = Frame.view(in: region.bytes, at: offset, seed: Self.seed) {
            try replay.add(frame, region, path: "log")
            offset += frame.sizeBytes
        }
        let tables = replay.finish().tables
        let operationCount = Self.frameCount * Self.frameOperationCount
        #expect(replay.operationCount == operationCount)
        #expect(tables.reduce(0) { $0 + $1.count } == operationCount)
        for number in stride(from: 0, to: operationCount, by: 997) {
            let key = Self.key(number)
            let hash = sampleHash(key)
            let table = tables[shardIndex(of: hash, shardCount: tables.count)]
            let found = key.withUnsafeBytes { table.find($0, hash: hash) }
            #expect(found?.sequence == UInt64(number / Self.frameOperationCount + 1))
        }
        let askedCount = asked.load(ordering: .relaxed)
        #expect(refusalCount == .max ? askedCount > 2 : askedCount == refusalCount + 1)
    }
}
