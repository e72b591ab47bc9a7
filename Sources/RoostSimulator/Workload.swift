import RoostEngine
import RoostFormat
import RoostSimulation

/// What a run does next, drawn from its random numbers.
struct Workload {
    enum Action {
        case write([History.Change], Durability)
        /// Leaves a put to be committed after the call.
        case enqueue(History.Change)
        case read(dictionary: String, key: String)
        /// Reads some keys and writes others, if those are still as they were read.
        case transaction(reads: [Place], [History.Change], Durability)
        /// Looks twice at one read view, with other calls between.
        case view
        case check
        case synchronize
        /// Waits for the disk as a write does that finds its value there already.
        case confirm
        /// Waits until all timers have ended.
        case rest
        /// Lets time pass.
        case wait(Duration)
        case compact
        case close

        var name: String {
            switch self {
            case .write: "write"
            case .enqueue: "enqueue"
            case .read: "read"
            case .transaction: "transaction"
            case .view: "view"
            case .check: "scan"
            case .synchronize: "synchronize"
            case .confirm: "confirm"
            case .rest, .wait: "wait"
            case .compact: "compact"
            case .close: "close"
            }
        }
    }

    struct Place {
        var dictionary: String
        var key: String
    }

    static let dictionaries = ["a", "b", "settings"]
    /// Where a value was enqueued last, for transactions to read: it may not be in the log yet.
    private var lastEnqueued: Place?
    private let keyCount: Int
    private let usesIntervals: Bool
    let enqueues: Bool
    /// How often a value gets a deadline: once in so many times, or never.
    private let deadlineRarity: Int?
    /// The time of day in milliseconds.
    private let clock: @Sendable () -> UInt64
    private var writeCount: UInt64 = 0

    init(_ random: inout SimulationRandom, clock: @escaping @Sendable () -> UInt64) {
        keyCount = [3, 12, 60][random.below(3)]
        usesIntervals = random.once(in: 2)
        // Not always: what is watched takes another way.
        enqueues = random.once(in: 3)
        deadlineRarity = [nil, 10, 2][random.below(3)]
        self.clock = clock
    }

    mutating func next(_ random: inout SimulationRandom) -> Action {
        switch random.below(100) {
        case ..<48: return .write([change(&random)], durability(&random))
        case ..<52 where enqueues:
            let place = place(&random)
            lastEnqueued = place
            return .enqueue(put(place.dictionary, place.key, &random))
        case ..<52: return .write([change(&random)], durability(&random))
        case ..<55: return .wait(.milliseconds(1 + random.below(60)))
        case ..<68:
            let count = 2 + random.below(8)
            return .write((0..<count).map { _ in change(&random) }, durability(&random))
        case ..<72:
            let clear = History.Change.clear(dictionary: dictionary(&random))
            // A clear alone, or with puts that must outlive it.
            let rest = random.once(in: 2) ? [] : (0..<3).map { _ in change(&random) }
            return .write([clear] + rest, durability(&random))
        case ..<80:
            var reads = (0...random.below(3)).map { _ in place(&random) }
            if let lastEnqueued, random.once(in: 2) { reads[0] = lastEnqueued }
            var changes = (0..<random.below(3)).map { _ in change(&random) }
            // Mostly what it has read; else nothing but the reads has it wait for others.
            let changed = random.once(in: 3) ? place(&random) : reads[0]
            changes.append(put(changed.dictionary, changed.key, &random))
            return .transaction(reads: reads, changes, durability(&random))
        case ..<85: return .read(dictionary: dictionary(&random), key: key(&random))
        case ..<88: return .view
        case ..<90: return .check
        case ..<92: return .rest
        case ..<93: return .synchronize
        case ..<94: return .confirm
        case ..<97: return .compact
        default: return .close
        }
    }

    func dictionary(_ random: inout SimulationRandom) -> String {
        Self.dictionaries[random.below(Self.dictionaries.count)]
    }

    func key(_ random: inout SimulationRandom) -> String { "key-\(random.below(keyCount))" }

    private func place(_ random: inout SimulationRandom) -> Place {
        Place(dictionary: dictionary(&random), key: key(&random))
    }

    private func durability(_ random: inout SimulationRandom) -> Durability {
        switch random.below(10) {
        case ..<3: .synced
        case 3 where usesIntervals: .interval(.milliseconds(100))
        default: .process
        }
    }

    private mutating func change(_ random: inout SimulationRandom) -> History.Change {
        if random.once(in: 6) { return .remove(dictionary: dictionary(&random), key: key(&random)) }
        let dictionary = dictionary(&random)
        return put(dictionary, key(&random), &random)
    }

    private mutating func put(
        _ dictionary: String, _ key: String, _ random: inout SimulationRandom
    ) -> History.Change {
        writeCount += 1
        let count = [9, 9, 40, 200, 700, 3000, 9000][random.below(7)]
        // Data, which begins with a number that no other write has.
        var header = ValueHeader(kind: ValueKind.data.rawValue)
        if let deadlineRarity, random.once(in: deadlineRarity) {
            // The first is past when it is written.
            let span = [0, 1, 10, 60, 300, 100_000][random.below(6)]
            header.deadline = Deadline(milliseconds: clock() + UInt64(span))
        }
        var value = header.bytes
        withUnsafeBytes(of: writeCount.littleEndian) { value.append(contentsOf: $0) }
        let isPacked = random.once(in: 2)
        while value.count < count {
            value.append(
                isPacked ? UInt8(truncatingIfNeeded: random.next()) : UInt8(value.count & 7))
        }
        return .put(dictionary: dictionary, key: key, value: value)
    }
}

extension Engine {
    /// Carries out `changes` as one batch, or as a call on one key where there is one.
    ///
    /// - Parameter atOnce: Whether a single change is made without suspending where that is
    ///   possible, as a dictionary makes it.
    func make(
        _ changes: [History.Change], _ durability: Durability, atOnce: Bool = false
    ) async throws -> UInt64 {
        if changes.count == 1 {
            switch changes[0] {
            case .put(let dictionary, let key, let value):
                return try await make(
                    encoded(value), key, name(dictionary), durability, atOnce: atOnce)
            case .remove(let dictionary, let key):
                return try await make(nil, key, name(dictionary), durability, atOnce: atOnce)
            case .clear: break
            }
        }
        var batch = EncodedBatch(hashSeed: hashSeed)
        for change in changes {
            switch change {
            case .put(let dictionary, let key, let value):
                batch.put(encoded(value), forKey: key, in: name(dictionary))
            case .remove(let dictionary, let key): batch.remove(key, in: name(dictionary))
            case .clear(let dictionary): batch.clear(name(dictionary))
            }
        }
        return try await commit(batch, durability: durability)
    }

    private func make(
        _ value: EncodedValue?, _ key: String, _ name: DictionaryName, _ durability: Durability,
        atOnce: Bool
    ) async throws -> UInt64 {
        if atOnce,
            let sequence = try writeAtOnce(
                value, key: key, prefix: name.prefixBytes, durability: durability)
        {
            return sequence
        }
        return try await write(value, key: key, name: name, durability: durability)
    }

    /// Reads keys and commits `changes`, if what was read is still so; the values that were read,
    /// and the batch's number, `nil` where one had changed. The next attempt has its turn, if it
    /// `takesTurn`.
    func makeTransaction(
        reading places: [Workload.Place], _ changes: [History.Change], _ durability: Durability,
        _ turn: inout TransactionTurn?, takesTurn: Bool
    ) async throws -> (read: [[UInt8]?], sequence: UInt64?) {
        var transaction = EngineTransaction(self, hasTurn: turn != nil)
        var read: [[UInt8]?] = []
        do {
            for place in places {
                read.append(
                    try transaction.withValue(place.key, name: name(place.dictionary)) {
                        $0.map { Array($0) }
                    })
            }
        } catch {
            transaction.close()
            throw error
        }
        for change in changes {
            switch change {
            case .put(let dictionary, let key, let value):
                try transaction.put(encoded(value), forKey: key, in: name(dictionary))
            case .remove(let dictionary, let key): try transaction.remove(key, in: name(dictionary))
            case .clear(let dictionary): try transaction.clear(name(dictionary))
            }
        }
        guard let reads = transaction.reads else { return (read, nil) }
        defer { reads.view.close() }
        let batch = transaction.batch
        let sequence = try await commit(
            batch, reads: reads, durability: durability, places: turn?.places(for: reads, batch))
        if sequence == nil, takesTurn {
            if turn == nil { turn = TransactionTurn(self) }
            try await turn?.take(for: reads, batch, longest: .zero)
        }
        return (read, sequence)
    }

    /// The names of a run are all short.
    private func name(_ dictionary: String) -> DictionaryName { DictionaryName(dictionary)! }
}

/// The value as calls take it, of its stored form.
func encoded(_ value: [UInt8]) -> EncodedValue {
    EncodedValue(kind: value[0], payload: .bytes(Array(value.dropFirst())))
}
