import Foundation
import RoostCoding

/// A value and a coder, and what was measured of them.
struct CoderSample {
    let coder: String
    let workload: String
    let bytes: Int
    /// Runs this many times.
    private let encode: (Int) throws -> Void
    private let decode: (Int) throws -> Void
    private let isRestored: () throws -> Bool
    private var encodeRounds: [Double] = []
    private var decodeRounds: [Double] = []

    init<Value: Equatable, Bytes: Collection>(
        _ coder: String, _ workload: String, _ value: Value,
        encode: @escaping (Value) throws -> Bytes, decode: @escaping (Bytes) throws -> Value
    ) throws {
        let encoded = try encode(value)
        (self.coder, self.workload, bytes) = (coder, workload, encoded.count)
        self.encode = { count in
            for _ in 0..<count { keep(try encode(value)) }
        }
        self.decode = { count in
            for _ in 0..<count { keep(try decode(encoded)) }
        }
        isRestored = { try decode(encoded) == value }
    }

    func check() throws {
        guard try isRestored() else { throw Failure(coder: coder, workload: workload) }
    }

    struct Failure: Error {
        var coder: String
        var workload: String
    }

    /// Adds one round of about twice the given time.
    mutating func measure(nanoseconds: Double) throws {
        encodeRounds.append(try Self.time(nanoseconds, encode))
        decodeRounds.append(try Self.time(nanoseconds, decode))
    }

    /// The time of one run: of many at once, so that the clock's own cost vanishes. It is the
    /// thread's own time, so that what else the machine does counts little.
    private static func time(_ nanoseconds: Double, _ body: (Int) throws -> Void) rethrows -> Double
    {
        var count = 1
        while true {
            let begin = threadNanoseconds()
            try body(count)
            let spent = threadNanoseconds() - begin
            if spent * 2 > nanoseconds { return spent / Double(count) }
            count = max(count * 2, Int(Double(count) * nanoseconds * 0.8 / max(spent, 1)))
        }
    }

    var row: CoderRow {
        CoderRow(
            coder: coder, workload: workload, bytes: bytes,
            encodeNanoseconds: median(encodeRounds), decodeNanoseconds: median(decodeRounds))
    }
}

/// Takes a result, so that making it is not left out.
@inline(never)
private func keep<Value>(_ value: Value) {}

/// How long this thread has run.
private func threadNanoseconds() -> Double {
    var time = timespec()
    // Both systems that Roost runs on have this clock, so that it cannot fail.
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}
