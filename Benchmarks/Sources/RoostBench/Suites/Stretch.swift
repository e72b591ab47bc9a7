/// What one client does, made before the clock starts, and what came of it.
struct Stretch: Sendable {
    enum Kind: Sendable, Equatable {
        case read, absent, set, readThenSet, scan, batch
        case fullScan(makesEntries: Bool)
    }

    /// One for each operation; where it is a single one, that of all.
    var kinds: [Kind]
    var indices: [Int]
    var keys: [String] = []
    /// One for each operation that sets, else empty.
    var values: [[UInt8]] = []
    var batchCount = 1000
    let valueSizeBytes: Int
    /// Whole-file engines stop after this long; the rest of the operations is not done.
    var limitSeconds: Double?

    var count: Int { indices.count }

    func kind(_ place: Int) -> Kind { kinds.count == 1 ? kinds[0] : kinds[place] }

    /// Where all operations are of one kind.
    init(_ kind: Kind, _ indices: [Int], _ workload: Workload, generation: UInt64 = 0) {
        kinds = [kind]
        valueSizeBytes = workload.valueSizeBytes
        self.indices = indices
        keys = indices.map(workload.key)
        if kind == .set || kind == .batch {
            values = indices.map { workload.value($0, generation: generation) }
        }
    }

    init(_ kinds: [Kind], _ indices: [Int], _ workload: Workload, generation: UInt64) {
        self.kinds = kinds
        valueSizeBytes = workload.valueSizeBytes
        self.indices = indices
        keys = indices.map(workload.key)
        values = zip(kinds, indices).map { kind, index in
            kind == .set || kind == .readThenSet
                ? workload.value(index, generation: generation) : []
        }
    }
}

extension Stretch {
    /// Does all operations, checking what each reads. Returns how many were done.
    nonisolated(nonsending) func run<Client: KeyValueClient>(
        _ client: Client, latencies: inout Latencies?
    ) async throws -> Int {
        if latencies != nil { return try await runTimed(client, &latencies!) }
        if let limitSeconds { return try await run(client, within: limitSeconds) }
        switch kinds.count == 1 ? kinds[0] : nil {
        case .read:
            for place in indices.indices {
                try check(await client.word(forKey: keys[place]), place)
            }
        case .set:
            for place in indices.indices {
                try await client.set(values[place], forKey: keys[place])
            }
        default:
            var place = 0
            while place < count { place += try await step(client, place) }
        }
        return count
    }

    private nonisolated(nonsending) func run<Client: KeyValueClient>(
        _ client: Client, within seconds: Double
    ) async throws -> Int {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(seconds)
        var place = 0
        while place < count {
            place += try await step(client, place)
            if clock.now > end { break }
        }
        return place
    }

    private nonisolated(nonsending) func runTimed<Client: KeyValueClient>(
        _ client: Client, _ latencies: inout Latencies
    ) async throws -> Int {
        let clock = ContinuousClock()
        var begin = clock.now
        var place = 0
        while place < count {
            let done = try await step(client, place)
            let end = clock.now
            latencies.note(end - begin, isRead: kind(place) == .read)
            begin = end
            place += done
        }
        return count
    }

    /// One operation; a batch does many at once. Returns how many were done.
    @inline(__always)
    private nonisolated(nonsending) func step<Client: KeyValueClient>(
        _ client: Client, _ place: Int
    ) async throws -> Int {
        switch kind(place) {
        case .read: try check(await client.word(forKey: keys[place]), place)
        case .absent:
            guard try await client.word(forKey: keys[place]) == nil else {
                throw BenchError("a value for the absent key \(keys[place])")
            }
        case .set: try await client.set(values[place], forKey: keys[place])
        case .readThenSet:
            try check(await client.word(forKey: keys[place]), place)
            try await client.set(values[place], forKey: keys[place])
        case .scan:
            // Between one and a hundred entries, as YCSB's; fewer only at the end of the keys.
            let limit = 1 + indices[place] % 100
            let totals = try await client.scan(
                from: keys[place], limit: limit, makesEntries: false)
            guard totals.entries > 0 else { throw BenchError("an empty scan") }
        case .batch:
            let end = min(place + batchCount, count)
            try await client.setAll(keys[place..<end], values[place..<end])
            return end - place
        case .fullScan(let makesEntries):
            let totals = try await client.scan(
                from: nil, limit: .max, makesEntries: makesEntries)
            guard totals.entries >= count,
                totals.valueSizeBytes == totals.entries * valueSizeBytes
            else {
                throw BenchError("a scan of \(totals.entries) entries, not \(count)")
            }
            return count
        }
        return 1
    }

    @inline(__always)
    private func check(_ word: UInt64?, _ place: Int) throws {
        guard let word else { throw BenchError("no value for \(keys[place])") }
        guard Workload.index(ofWord: word) == indices[place] else {
            throw BenchError("another key's value for \(keys[place])")
        }
    }
}
