/// The workloads of the engines' table, by the names that `--workloads` takes.
enum EngineWorkload: String, CaseIterable, Sendable {
    case fillSequential = "fill-sequential"
    case fillRandom = "fill-random"
    case overwrite
    case read
    case absent
    case ycsbA = "ycsb-a"
    case ycsbB = "ycsb-b"
    case ycsbC = "ycsb-c"
    case ycsbD = "ycsb-d"
    case ycsbE = "ycsb-e"
    case ycsbF = "ycsb-f"
    case scan
    case batch
    case tails
    /// Opening in a fresh process: its time, its memory, and reads of keys never touched.
    case firstTouch = "first-touch"
    case openAfterKill = "open-after-kill"
    /// Bytes on disk a second after filling, after five overwrites, compacted; and write amplification.
    case space
    case durable
    case durableBatch = "durable-batch"

    /// What grows with the number of keys.
    static let growth: Set<EngineWorkload> = [
        .fillSequential, .fillRandom, .overwrite, .read, .absent, .firstTouch,
    ]

    /// What goes by the size of the values.
    static let onValues: Set<EngineWorkload> = [
        .fillSequential, .fillRandom, .overwrite, .read, .scan,
    ]

    /// What is measured of whole-file engines: the rest would only take long.
    static let onWholeFiles: Set<EngineWorkload> = [
        .fillSequential, .fillRandom, .overwrite, .read, .firstTouch,
    ]

    var mix: Mix? { Mix(rawValue: rawValue) }

    /// The workloads that one store serves, in their order.
    static let onFilledStore: [EngineWorkload] = [
        .fillSequential, .overwrite, .read, .absent, .ycsbB, .ycsbC, .ycsbA, .ycsbF, .batch,
        .ycsbD, .ycsbE, .scan, .tails, .firstTouch,
    ]
}
