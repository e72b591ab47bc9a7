import Foundation

extension EngineSession {
    /// Whole-file engines write as often as this allows, and the row says how often.
    private var limitSeconds: Double? { Engine.abilities.isWholeFile ? 2 : nil }

    /// Fills a store and runs on it whatever is wanted of `EngineWorkload.onFilledStore`.
    mutating func runOnFilledStore(_ path: String) async throws {
        let engine = try await open(path)
        try await fill(engine, indices: 0..<keyCount, as: .fillSequential)
        for workload in EngineWorkload.onFilledStore where wanted.contains(workload) {
            if workload == .firstTouch || workload == .fillSequential { continue }
            // Reads are of a store whose background work is done.
            if workload == .read { try await rest(path) }
            try await run(workload, engine)
        }
        if wanted.contains(.firstTouch) { try await engine.compact() }
        try await engine.close()
        if wanted.contains(.tails) { noteLongestPause() }
        if wanted.contains(.firstTouch) {
            try await measureReopening(path)
            try measureFirstTouch(path)
        }
    }

    private mutating func run(_ kind: EngineWorkload, _ engine: Engine) async throws {
        switch kind {
        case .overwrite:
            try await setAll(engine, workload.shuffledIndices(), as: .overwrite)
        case .read:
            // What is read for the first time since it was written is a row of its own: `read` finds
            // every engine's caches as warm as it keeps them.
            try await measure(kind, engine, read(.read, 1), as: "read-once")
            for clients in [1, 2] {
                try await measure(kind, engine, read(.read, clients, reordered: clients))
            }
        case .absent:
            for clients in [1, 2] { try await measure(kind, engine, read(.absent, clients)) }
        case .ycsbA, .ycsbB, .ycsbC, .ycsbD, .ycsbE, .ycsbF:
            if kind == .ycsbE, !Engine.abilities.isOrdered { return }
            for clients in [1, 2] { try await measure(kind, engine, mixed(kind, clients)) }
        case .batch:
            guard Engine.abilities.hasAtomicBatches else { return }
            let indices = Array(workload.shuffledIndices().prefix(operations))
            try await measure(
                kind, engine, [Stretch(.batch, indices, workload, generation: nextGeneration())])
        case .scan:
            let stretch = Stretch(.fullScan(makesEntries: false), Array(0..<keyCount), workload)
            // As with `read-once`: what is read in order for the first time is a row of its own.
            try await measure(kind, engine, [stretch], as: "scan-once")
            try await measure(kind, engine, [stretch])
            let making = Stretch(.fullScan(makesEntries: true), Array(0..<keyCount), workload)
            try await measure(kind, engine, [making], as: "scan-entries")
        case .tails: try await measureTails(engine)
        default: break
        }
    }

    // MARK: Filling

    private mutating func fill(
        _ engine: Engine, indices: some Sequence<Int>, as kind: EngineWorkload
    ) async throws {
        guard Engine.abilities.isWholeFile else {
            return try await setAll(engine, indices, as: kind)
        }
        // A set costs what the file holds: half full, it costs what all of them cost on average.
        let order = Array(indices)
        let half = order.count / 2
        let client = try engine.makeClient()
        let keys = order.map(workload.key)
        let values = order.map { workload.value($0) }
        try await client.setAll(keys[..<half], values[..<half])
        try await measure(kind, engine, [Stretch(.set, Array(order[half...]), workload)])
        try await client.setAll(keys[half...], values[half...])
    }

    mutating func fillRandomly(_ path: String) async throws {
        let engine = try await open(path)
        try await fill(engine, indices: workload.shuffledIndices(), as: .fillRandom)
        try await engine.close()
    }

    /// Sets all keys, in pieces whose keys and values are made outside the time that is taken.
    mutating func setAll(
        _ engine: Engine, _ indices: some Sequence<Int>, as kind: EngineWorkload?
    ) async throws {
        let generation = nextGeneration()
        let pieceCount = max(1, min(100_000, (64 << 20) / workload.valueSizeBytes))
        var spent = 0.0
        var done = 0
        var iterator = indices.makeIterator()
        while true {
            var piece: [Int] = []
            while piece.count < pieceCount, let index = iterator.next() { piece.append(index) }
            if piece.isEmpty { break }
            var stretch = Stretch(.set, piece, workload, generation: generation)
            stretch.limitSeconds = limitSeconds
            let result = try await runClients(engine, [stretch])
            spent += result.seconds
            done += result.operations
            if limitSeconds != nil { break }
        }
        guard let kind, wanted.contains(kind) else { return }
        note(
            kind.rawValue, Double(done) / spent, sampledOperations: done < keyCount ? done : nil)
    }

    // MARK: Measuring

    /// - Parameter reordered: Where it is not 0, the same keys in another order, one for each number.
    private func read(
        _ kind: Stretch.Kind, _ clients: Int, reordered: Int = 0
    ) -> [Stretch] {
        let source = kind == .absent ? workload.absent : workload
        var indices = Array(source.shuffledIndices().prefix(operations))
        if reordered != 0 {
            var random = SplitMix(state: UInt64(reordered))
            indices.shuffle(using: &random)
        }
        return (0..<clients).map { client in
            let own = stride(from: client, to: indices.count, by: clients).map { indices[$0] }
            return Stretch(kind, own, source)
        }
    }

    private mutating func mixed(_ kind: EngineWorkload, _ clients: Int) -> [Stretch] {
        guard let mix = kind.mix else { return [] }
        // A scan reads fifty entries on average.
        let count = mix == .e ? max(operations / 20, clients * 10) : operations
        let stretches = mix.stretches(
            workload, zipfian: zipfian, operations: count, clients: clients,
            firstNewKey: firstNewKey, generation: nextGeneration())
        if mix.inserts {
            firstNewKey = (stretches.flatMap(\.indices).max() ?? 0) + 1 + clients
        }
        return stretches
    }

    private mutating func measure(
        _ kind: EngineWorkload, _ engine: Engine, _ stretches: [Stretch], as name: String? = nil
    ) async throws {
        var stretches = stretches
        for index in stretches.indices { stretches[index].limitSeconds = limitSeconds }
        let count = stretches.reduce(0) { $0 + $1.count }
        let result = try await runClients(engine, stretches)
        guard wanted.contains(kind) else { return }
        guard result.operations > 0 else { throw BenchError("\(kind.rawValue) did nothing") }
        note(
            name ?? kind.rawValue, Double(result.operations) / result.seconds,
            clients: stretches.count,
            sampledOperations: result.operations < count ? result.operations : nil)
    }

    /// The longest that this thread is kept waiting in a second in which it only looks at the clock: what
    /// of the longest calls may be the machine's.
    private mutating func noteLongestPause() {
        let begin = monotonicNanoseconds()
        var last = begin
        var longest: UInt64 = 0
        while last - begin < 1_000_000_000 {
            let now = monotonicNanoseconds()
            longest = max(longest, now - last)
            last = now
        }
        note("tails-idle-max", Double(longest) / 1e3, .microseconds)
    }

    private mutating func measureTails(_ engine: Engine) async throws {
        let stretches = mixed(.ycsbA, 1)
        let result = try await runClients(engine, stretches, recordingLatencies: true)
        for (name, figures) in [
            ("read", result.latencies.reads), ("set", result.latencies.writes),
        ] {
            guard figures.count > 0 else { throw BenchError("no latencies") }
            note("tails-\(name)-p50", figures.nanoseconds(quantile: 0.5) / 1e3, .microseconds)
            note("tails-\(name)-p99", figures.nanoseconds(quantile: 0.99) / 1e3, .microseconds)
            note("tails-\(name)-p99.9", figures.nanoseconds(quantile: 0.999) / 1e3, .microseconds)
            note("tails-\(name)-max", Double(figures.maximumNanoseconds) / 1e3, .microseconds)
        }
    }
}
