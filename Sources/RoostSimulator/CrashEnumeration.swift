import RoostEngine
import RoostFormat
import RoostIO
import RoostSimulation

/// Every state that a crash may leave of a short workload, each opened and compared.
///
/// - A crash is tried before each call that changes the disk, and at the end; the death of the
///   process also in the middle of each write, and what that leaves is nested always.
/// - Of each, the death of the process is one state, and a power cut as many as there are
///   combinations of what it keeps. Past `combinationLimit` of them some are drawn at random.
/// - Every `depthStride`th state is also opened on a machine that stops after each of the
///   opening's calls, and what that leaves is opened again.
/// - Whoever opens writes a batch after what is there, waits for the disk, and is killed; all of
///   it is there for the next opening.
package struct CrashEnumeration {
    package enum Step: Sendable {
        /// A batch.
        case write([History.Change], Durability = .process)
        /// An opening's last batch: the process dies in the middle of its write.
        case tear([History.Change])
        /// An opening's last batch: a sync fails, and with it the batch.
        case failSync([History.Change])
        /// A call after which all batches before it are on disk.
        case call(@Sendable (Engine) async throws -> Void)
    }

    package var configuration = EngineConfiguration()
    package var allowsMapping = true
    package var combinationLimit = 24
    package var randomCount = 8
    package var depthStride = 40
    package private(set) var stateCount = 0
    package private(set) var nestedStateCount = 0

    private let lastValue = [ValueKind.data.rawValue, 0]

    /// The oracle after a step, and how many calls had been made by then.
    private struct Mark {
        var callCount: Int
        var history: History
    }

    package init() {
        configuration.shardCount = 2
        configuration.durability = .process
        // Two would make their calls in an order that is not the same every time.
        configuration.compactionThreadCount = 1
        configuration.snapshotSizeBytes = 256
    }

    /// Opens a new workspace, takes `openings` one after another, each ending with a close or, if
    /// it has none, with the death of the process, and tries all crashes.
    package mutating func explore(_ openings: [[Step]]) async throws {
        var disk = Disk(seed: 1)
        disk.allowsMapping = allowsMapping
        var history = History()
        for steps in openings {
            let fileSystem = SimulatedFileSystem(disk: disk)
            fileSystem.record()
            let marks = try await take(steps, on: fileSystem, &history)
            let images = fileSystem.recorded()
            var torn: Disk?
            for (index, image) in images.enumerated() {
                try await explore(image, index, marks)
                guard index + 1 < images.count,
                    let half = image.halfWritten(towards: images[index + 1])
                else { continue }
                try await exploreHalf(half, index, marks)
                torn = half
            }
            disk = fileSystem.turnOff().afterKill()
            if case .tear = steps.last, let torn {
                disk = torn.afterKill()
                history = marks[marks.count - 2].history
            }
        }
    }

    private func take(
        _ steps: [Step], on fileSystem: SimulatedFileSystem, _ history: inout History
    ) async throws -> [Mark] {
        var marks = [Mark(callCount: 0, history: history)]
        let engine = try await Engine.open(
            at: "/simulated", fileSystem: fileSystem.underEngine, configuration: configuration)
        _ = history.keep(Int(engine.recovery.lastSequence), showing: try engine.content())
        marks.append(Mark(callCount: fileSystem.callCount, history: history))
        for step in steps {
            switch step {
            case .write(let changes, let durability):
                try await write(changes, durability, to: engine, &history)
            case .tear(let changes): try await write(changes, .process, to: engine, &history)
            case .failSync(let changes):
                fileSystem.inject(Fault(.inputOutput, at: .sync))
                do { _ = try await engine.make(changes, .synced) } catch {
                    // It may be there all the same, and nobody was told that it is.
                    history.append(.init(changes: changes, isAwaited: true))
                }
                fileSystem.clearFaults()
            case .call(let body):
                try await body(engine)
                history.durableCount = history.batches.count
            }
            await engine.waitForCompaction()
            marks.append(Mark(callCount: fileSystem.callCount, history: history))
        }
        return marks
    }

    private func write(
        _ changes: [History.Change], _ durability: Durability, to engine: Engine,
        _ history: inout History
    ) async throws {
        let isAwaited = durability == .synced
        _ = try await engine.make(changes, durability)
        history.append(.init(changes: changes, isAwaited: isAwaited))
        history.acknowledgedCount = history.batches.count
        if isAwaited { history.durableCount = history.batches.count }
    }

    // MARK: States

    private mutating func explore(_ image: Disk, _ callCount: Int, _ marks: [Mark]) async throws {
        guard let oracle = oracle(at: callCount, reachedAt: callCount, marks) else { return }
        try await check(
            image.afterKill(), oracle, oracle.acknowledgedCount, "call \(callCount), kill")
        var choices = EnumeratedChoices()
        var count = 0
        repeat {
            try await check(
                image.afterPowerCut(&choices), oracle, oracle.durableCount,
                "call \(callCount), power cut \(count)", isOnDisk: true)
            count += 1
        } while choices.advance() && count < combinationLimit
        guard count == combinationLimit else { return }
        for seed in 0..<UInt64(randomCount) {
            var choices = RandomChoices(seed: seed)
            try await check(
                image.afterPowerCut(&choices), oracle, oracle.durableCount,
                "call \(callCount), random power cut \(seed)", isOnDisk: true)
        }
    }

    private mutating func exploreHalf(
        _ image: Disk, _ callCount: Int, _ marks: [Mark]
    ) async throws {
        // What is written through a mapping makes no call, so may be of the operation after it.
        guard let oracle = oracle(at: callCount, reachedAt: callCount + 1, marks) else { return }
        try await check(
            image.afterKill(), oracle, oracle.acknowledgedCount, "in call \(callCount), kill",
            isNested: true)
    }

    /// What was promised before a call, and what may be there as far as it had come.
    private func oracle(at callCount: Int, reachedAt lastCallCount: Int, _ marks: [Mark])
        -> History?
    {
        guard let promised = marks.last(where: { $0.callCount <= callCount }),
            let reached = marks.first(where: { $0.callCount > lastCallCount }) ?? marks.last
        else { return nil }
        var oracle = reached.history
        oracle.acknowledgedCount = promised.history.acknowledgedCount
        oracle.durableCount = promised.history.durableCount
        return oracle
    }

    /// - Parameter isOnDisk: all of it, so that no later crash may take the tail that the opening
    ///   cuts off.
    private mutating func check(
        _ disk: Disk, _ oracle: History, _ required: Int, _ place: String, isOnDisk: Bool = false,
        isNested: Bool = false
    ) async throws {
        stateCount += 1
        var tails = try await open(disk, oracle, required, place)
        if !isOnDisk { tails = [] }
        guard isNested || stateCount % depthStride == 0 else { return }
        for callCount in 0... {
            let fileSystem = SimulatedFileSystem(disk: disk)
            fileSystem.stop(afterCalls: callCount)
            do {
                _ = try await Engine.open(
                    at: "/simulated", fileSystem: fileSystem.underEngine,
                    configuration: configuration)
                return
            } catch let error as RoostError where !fileSystem.isOff {
                throw SimulationFailure("\(place), stopped after \(callCount): \(error)")
            } catch {}
            let nested = "\(place), then stopped after \(callCount) calls of the opening"
            let image = fileSystem.turnOff()
            try await open(image.afterKill(), oracle, required, nested + " by a kill", tails)
            for seed in 0..<4 as Range<UInt64> {
                var choices = RandomChoices(seed: seed)
                try await open(
                    image.afterPowerCut(&choices), oracle, min(required, oracle.durableCount),
                    nested + " by power cut \(seed)", tails)
            }
            nestedStateCount += 5
        }
    }

    /// Opens and compares; returns what the opening cut off.
    ///
    /// - Parameter tails: what an earlier opening found, and began to cut off: each is kept aside.
    @discardableResult
    private func open(
        _ disk: Disk, _ oracle: History, _ required: Int, _ place: String,
        _ tails: [RecoveryReport.TornTail] = []
    ) async throws -> [RecoveryReport.TornTail] {
        let fileSystem = SimulatedFileSystem(disk: disk)
        var (engine, history) = try await compare(fileSystem, oracle, required, place)
        // What this opening has made of it, and what is written after it, the next one reads.
        let last = [History.Change.put(dictionary: "last", key: "", value: lastValue)]
        _ = try await engine.make(last, .synced)
        history.append(.init(changes: last, isAwaited: true))
        let opened = fileSystem.turnOff()
        for tail in tails {
            guard let name = tail.keptAs else { continue }
            guard opened.sizeBytes(of: name) >= tail.sizeBytes else {
                throw SimulationFailure("\(place): \(name) is gone, \(opened.listing)")
            }
        }
        _ = try await compare(
            SimulatedFileSystem(disk: opened.afterKill()), history, history.batches.count,
            place + ", opened again")
        return engine.recovery.tornTails
    }

    private func compare(
        _ fileSystem: SimulatedFileSystem, _ oracle: History, _ required: Int, _ place: String
    ) async throws -> (Engine, History) {
        let engine: Engine
        do {
            engine = try await Engine.open(
                at: "/simulated", fileSystem: fileSystem.underEngine, configuration: configuration)
        } catch {
            let listing = fileSystem.turnOff().listing
            throw SimulationFailure("\(place): opening failed: \(error) \(listing)")
        }
        let kept = Int(engine.recovery.lastSequence)
        guard required <= kept, kept <= oracle.batches.count else {
            throw SimulationFailure(
                "\(place): \(kept) batches kept of \(oracle.batches.count), \(required) were safe")
        }
        var history = oracle
        if let difference = history.keep(kept, showing: try engine.content()) {
            throw SimulationFailure("\(place), \(kept) batches: \(difference)")
        }
        return (engine, history)
    }
}
