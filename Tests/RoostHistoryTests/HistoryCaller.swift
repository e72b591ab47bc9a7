import RoostEngine
import RoostFormat
import RoostIO
import RoostTestSupport
import Synchronization

/// What the callers of one history share: a clock, and the calls that were made.
final class HistoryLog: Sendable {
    private let clock = Atomic<Int>(0)
    private let nextID: Atomic<Int>
    private let calls = Mutex<[RecordedCall]>([])

    init(firstID: Int = 1) { nextID = Atomic(firstID) }

    func tick() -> Int { clock.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue }

    func begin(_ name: String) -> RecordedCall {
        let id = nextID.wrappingAdd(1, ordering: .relaxed).oldValue
        return RecordedCall(id: id, name: name, invoked: tick())
    }

    func add(_ call: RecordedCall) { calls.withLock { $0.append(call) } }
    var all: [RecordedCall] { calls.withLock { $0 } }
    var lastID: Int { nextID.load(ordering: .relaxed) }
}

/// Makes random calls on a few keys of two dictionaries and records what they saw.
struct HistoryCaller {
    let engine: Engine
    let log: HistoryLog
    /// Whether the machine still runs: what a call said before it stopped can be trusted.
    var isRunning: @Sendable () -> Bool = { true }
    var random: SeededGenerator

    static let dictionaries = ["a", "b"].map { DictionaryName($0)! }
    static let keys = ["k0", "k1", "k2", "k3"]

    private struct Place: Hashable {
        var dictionary: Int
        var key: String
        var name: DictionaryName { HistoryCaller.dictionaries[dictionary] }
        var text: String { "\(dictionary)/\(key)" }
    }

    static var allPlaces: [String] {
        dictionaries.indices.flatMap { dictionary in keys.map { "\(dictionary)/\($0)" } }
    }

    private mutating func anyPlace() -> Place {
        Place(
            dictionary: random.below(Self.dictionaries.count),
            key: Self.keys[random.below(Self.keys.count)])
    }

    private mutating func anyPlaces(_ most: Int) -> Set<Place> {
        Set((0..<(1 + random.below(most))).map { _ in anyPlace() })
    }

    private mutating func anyDurability() -> Durability {
        [.process, .process, .process, .interval(.milliseconds(3)), .synced][random.below(5)]
    }

    /// One call.
    mutating func step() async {
        switch random.below(20) {
        case 0..<3: await set()
        case 3: await remove()
        case 4..<6: await writeBatch()
        case 6..<8: await replace()
        case 8..<14: await transact()
        case 14..<16: await lookAtView()
        case 16 where random.once(in: 8): await compact()
        default: await get()
        }
    }

    /// Runs `body` as one call. Errors leave its outcome open.
    private func record(
        _ name: String, _ body: (inout RecordedCall) async throws -> Void
    ) async {
        var call = log.begin(name)
        do {
            try await body(&call)
            call.returned = log.tick()
            if !isRunning() {
                // It may have looked at memory that is not the disk any more.
                call.returned = .max
                call.outcome = .unknown
                call.reads = [:]
                call.contradiction = nil
            }
        } catch {
            if isRunning() { call.contradiction = "an error without a reason: \(error)" }
            call.reads = [:]
            call.outcome = .unknown
        }
        log.add(call)
    }

    // MARK: Blind writes

    private mutating func set() async {
        let place = anyPlace()
        let durability = anyDurability()
        await record("set \(durability)") { call in
            call.writes[place.text] = true
            call.sequence = try await write(Self.value(call.id), place, durability)
            call.outcome = .committed
        }
    }

    private mutating func remove() async {
        let place = anyPlace()
        let durability = anyDurability()
        await record("remove \(durability)") { call in
            call.writes[place.text] = false
            call.sequence = try await write(nil, place, durability)
            call.outcome = .committed
        }
    }

    /// As a dictionary writes, or after whatever else is under way.
    private mutating func write(
        _ value: EncodedValue?, _ place: Place, _ durability: Durability
    ) async throws -> UInt64 {
        if random.once(in: 2),
            let sequence = try engine.writeAtOnce(
                value, key: place.key, prefix: place.name.prefixBytes, durability: durability)
        {
            return sequence
        }
        return try await engine.write(
            value, key: place.key, name: place.name, durability: durability)
    }

    private mutating func writeBatch() async {
        let places = anyPlaces(5)
        let cleared = random.once(in: 5) ? random.below(Self.dictionaries.count) : nil
        let durability = anyDurability()
        await record("batch \(durability)") { call in
            var batch = EncodedBatch(hashSeed: engine.hashSeed)
            if let cleared {
                batch.clear(Self.dictionaries[cleared])
                for key in Self.keys { call.writes["\(cleared)/\(key)"] = false }
            }
            for place in places {
                batch.put(Self.value(call.id), forKey: place.key, in: place.name)
                call.writes[place.text] = true
            }
            call.sequence = try await engine.commit(batch, durability: durability)
            call.outcome = .committed
        }
    }

    // MARK: Writes on a condition

    /// Not inlined into the `async` closure that uses it: Swift 6.3 ends while it optimizes that.
    @inline(never)
    private func look(
        at place: Place
    ) throws -> (observed: RecordedCall.Observed, version: RecordVersion) {
        let versioned = try engine.findVersioned(place.key, name: place.name)
        return (Self.observed(versioned), versioned.version)
    }

    private mutating func replace() async {
        let place = anyPlace()
        let durability = anyDurability()
        let removes = random.once(in: 4)
        await record("replace \(durability)") { call in
            let (observed, version) = try look(at: place)
            await Task.yield()
            call.writes[place.text] = !removes
            let sequence = try await engine.write(
                removes ? nil : Self.value(call.id), key: place.key, name: place.name,
                if: version, durability: durability)
            guard let sequence else { return call.outcome = .refused }
            call.note(place.text, observed)
            call.sequence = sequence
            call.outcome = .committed
        }
    }

    private mutating func transact() async {
        let reads = anyPlaces(3)
        let ranged = random.once(in: 3) ? random.below(Self.dictionaries.count) : nil
        let writes = random.once(in: 5) ? [] : anyPlaces(3)
        let removes = random.once(in: 4)
        let durability = anyDurability()
        await record("transaction \(durability)") { call in
            var attempt = EngineTransaction(engine)
            defer { attempt.close() }
            for place in reads {
                let observed = try attempt.withValue(place.key, name: place.name) { bytes in
                    bytes.map(Self.observed) ?? .absent
                }
                call.note(place.text, observed)
                await Task.yield()
            }
            if let ranged {
                var found: [String: RecordedCall.Observed] = [:]
                let name = Self.dictionaries[ranged]
                try attempt.scan(RecordRange(name), .ascending, limit: .max) { recordKey, value in
                    let key = String(decoding: recordKey[name.prefix.count...], as: UTF8.self)
                    found[key] = Self.observed(value)
                    return true
                }
                for key in Self.keys { call.note("\(ranged)/\(key)", found[key] ?? .absent) }
                if try attempt.count(of: name) != found.count {
                    call.contradiction = "the count is not that of the keys"
                }
                await Task.yield()
            }
            for place in writes {
                call.writes[place.text] = !removes
                if removes {
                    try attempt.remove(place.key, in: place.name)
                } else {
                    try attempt.put(Self.value(call.id), forKey: place.key, in: place.name)
                }
            }
            let (batch, reads) = (attempt.batch, attempt.reads!)
            let sequence = try await engine.commit(batch, reads: reads, durability: durability)
            guard let sequence else { return call.outcome = .refused }
            if !batch.isEmpty { call.sequence = sequence }
            call.outcome = .committed
        }
    }

    // MARK: Reads

    private mutating func lookAtView() async {
        let ordered = Self.dictionaries.indices.flatMap { dictionary in
            Self.keys.map { Place(dictionary: dictionary, key: $0) }
        }
        let places = ordered.shuffled(using: &random)
        await record("view") { call in
            let view = try engine.view()
            defer { view.close() }
            for (index, place) in places.enumerated() {
                if let found = try view.find(place.key, name: place.name) {
                    call.note(place.text, Self.observed(found))
                } else {
                    call.note(place.text, .absent)
                }
                if index % 3 == 0 { await Task.yield() }
            }
            call.outcome = .committed
        }
    }

    private mutating func get() async {
        let place = anyPlace()
        await record("get") { call in
            let found = try engine.find(place.key, name: place.name)
            guard let found else {
                call.note(place.text, .absent)
                return call.outcome = .committed
            }
            let observed = Self.observed(found)
            call.note(place.text, observed)
            call.outcome = .committed
            if found.resident != nil { return }
            // As a reader does that decodes for a while.
            await Task.yield()
            engine.makeResident(
                ObservedBox(observed),
                costBytes: 8, found: found, key: place.key, name: place.name)
        }
    }

    private func compact() async {
        do { try await engine.compact() } catch {
            // The machine is off, or the engine poisoned because it is; else other calls say so.
        }
    }

    /// What every key holds now, as one call, with its version.
    func finalState() throws -> (call: RecordedCall, versions: [String: UInt64]) {
        var call = log.begin("final")
        var versions: [String: UInt64] = [:]
        for (dictionary, name) in Self.dictionaries.enumerated() {
            for key in Self.keys {
                let versioned = try engine.findVersioned(key, name: name)
                call.note("\(dictionary)/\(key)", Self.observed(versioned))
                versions["\(dictionary)/\(key)"] = versioned.version.sequence
            }
        }
        call.outcome = .committed
        call.returned = log.tick()
        return (call, versions)
    }

    // MARK: Values

    private static func value(_ id: Int) -> EncodedValue {
        EncodedValue(kind: ValueKind.int.rawValue, payload: .inline(UInt64(id), count: 8))
    }

    @inline(never)
    private static func observed(_ versioned: borrowing VersionedValue) -> RecordedCall.Observed {
        defer { withExtendedLifetime(versioned) {} }
        return versioned.storedBytes.map(observed) ?? .absent
    }

    private static func observed(_ found: borrowing FoundValue) -> RecordedCall.Observed {
        if let box = found.resident as? ObservedBox { return box.observed }
        return withExtendedLifetime(found) { observed($0.bytes) }
    }

    private static func observed(_ bytes: UnsafeRawBufferPointer) -> RecordedCall.Observed {
        .written(
            by: bytes.count == 9 ? Int(bytes.loadUnaligned(fromByteOffset: 1, as: UInt64.self)) : -1
        )
    }
}

private final class ObservedBox: Resident, @unchecked Sendable {
    let observed: RecordedCall.Observed

    init(_ observed: RecordedCall.Observed) {
        self.observed = observed
        super.init(type: ObjectIdentifier(ObservedBox.self))
    }
}
