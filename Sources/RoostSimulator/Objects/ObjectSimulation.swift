import Roost
import RoostEngine
import RoostIO
import RoostSimulation

/// One run from one seed: objects with indexes that are declared and dropped, over a simulated disk that
/// stops at any call; after each opening, and at each round's end, every index that counts is that of its
/// objects, and queries answer what a filter answers.
///
/// As `SimulationRun`, all of it runs on the one thread of `scheduling`: the same seed is the same run.
package actor ObjectSimulation {
    package let seed: UInt64
    package private(set) var counts = ObjectSimulationCounts()
    package private(set) var trace: [String] = []
    private let isTraced: Bool
    private let scheduling: SimulatedScheduling
    var random: SimulationRandom
    private var configuration = EngineConfiguration()
    private var fileSystem: SimulatedFileSystem
    private var opened: Opened?
    private let idCount: Int

    /// What is open, and what its repository declares.
    struct Opened {
        let workspace: Workspace
        let items: Repository<SimulatedItem>
    }

    package init(seed: UInt64, scheduling: SimulatedScheduling, isTraced: Bool = false) {
        self.seed = seed
        self.isTraced = isTraced
        self.scheduling = scheduling
        counts.seeds = 1
        var random = SimulationRandom(seed: seed)
        var disk = Disk(seed: random.next())
        disk.allowsMapping = !random.once(in: 4)
        fileSystem = SimulatedFileSystem(disk: disk, scheduling: scheduling)
        idCount = [6, 30, 90][random.below(3)]
        configuration.durability = .process
        configuration.pausesBetweenSteps = random.once(in: 2)
        configuration.declinesChangesAtOnce = random.once(in: 2)
        configuration.snapshotSizeBytes = [1 << 10, 32 << 20][random.below(2)]
        configuration.flushThresholdBytes = [6 << 10, 24 << 10][random.below(2)]
        configuration.backlogLimitBytes = configuration.flushThresholdBytes * 4
        configuration.memoryBudgetBytes = 1 << 16
        configuration.segmentSizeBytes = [12 << 10, 48 << 10][random.below(2)]
        configuration.compactionThreadCount = 1 + random.below(2)
        configuration.compresses = random.once(in: 2)
        configuration.indexPieceCount = [1, 3, 16][random.below(3)]
        self.random = random
    }

    /// Takes about `steps` steps with crashes between, and ends with all indexes built and right.
    package func run(steps: Int) async throws {
        var left = steps
        while left > 0 {
            try await open()
            let taskCount = 1 + random.below(3)
            let stepCount = min(left, 2 + random.below(10))
            left -= stepCount
            if random.below(3) > 0 { fileSystem.stop(afterCalls: random.below(60)) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<taskCount {
                    group.addTask { try await self.takeSteps(max(1, stepCount / taskCount)) }
                }
                try await group.waitForAll()
            }
            try await endRound()
        }
        fileSystem.stop(afterCalls: nil)
        if fileSystem.isOff { try crash() }
        try await open(isDisturbed: false)
        try await finish()
    }

    func note(_ line: @autoclosure () -> String) { if isTraced { trace.append(line()) } }

    // MARK: Openings

    private func open(isDisturbed: Bool = true) async throws {
        while opened == nil {
            if isDisturbed, random.once(in: 4) { fileSystem.stop(afterCalls: random.below(25)) }
            configuration.shardCount = [1, 2, 4][random.below(3)]
            let configuration = configuration
            do {
                let workspace = try await Workspace.open(
                    at: "/simulated", configuration: .init(), fileSystem: fileSystem.underEngine
                ) { $0 = configuration }
                let names = SimulatedItem.all.map(\.name).filter { _ in !random.once(in: 3) }
                note("opens, declares \(names)")
                let items = SimulatedItem.$declared.withValue(Set(names)) {
                    workspace.repository(of: SimulatedItem.self, named: "items")
                }
                opened = Opened(workspace: workspace, items: items)
                counts.openings += 1
                try check("behind the opening")
            } catch let error as RoostError {
                try excuse(error)
                opened = nil
            }
            if fileSystem.isOff { try crash() }
        }
    }

    private func endRound() async throws {
        if fileSystem.isOff { return try crash() }
        try attempt { try self.check("at a round's end") }
        guard let opened, random.once(in: 3) else { return }
        note("closes")
        do { try await opened.workspace.close() } catch let error as RoostError {
            try excuse(error)
        }
        if fileSystem.isOff { return try crash() }
        self.opened = nil
    }

    private func crash() throws {
        opened = nil
        counts.crashes += 1
        let stopped = fileSystem.turnOff()
        let isPowerCut = random.once(in: 2)
        note(isPowerCut ? "power cut" : "kill")
        var choices = RandomChoices(seed: random.next())
        let disk = isPowerCut ? stopped.afterPowerCut(&choices) : stopped.afterKill()
        fileSystem = SimulatedFileSystem(disk: disk, scheduling: scheduling)
    }

    /// All that is declared gets built, or says why it cannot be, and is right.
    private func finish() async throws {
        guard let opened else { return }
        let states = try await builtStates(opened.items)
        let declared = opened.items.declaredIndexNames
        for name in declared {
            let state = states.first { $0.name == name }
            switch state?.progress {
            case .built: counts.builtIndexes += 1
            case .failed where name == "slug": break
            default: throw SimulationFailure("index \(name) was never built: \(states)")
            }
        }
        try check("at the end")
        for _ in 0..<4 { try ask(opened, SimulatedQuery(&random)) }
        // It tells what an enqueued write failed with.
        do { try await opened.workspace.close() } catch let error as RoostError {
            try excuse(error)
        }
        self.opened = nil
    }

    private func builtStates(_ items: Repository<SimulatedItem>) async throws -> [IndexState] {
        do { try await items.indexesBuilt() } catch let error as RoostError {
            // Two objects have the value that is to be unique, which the index came too late for. The
            // others are still under way.
            guard error.code == .conflict, error.message.contains("slug") else { throw error }
            counts.failedUniqueIndexes += 1
            await scheduling.waitUntilIdle()
        }
        return try items.indexStates()
    }

    // MARK: Checks

    /// Every index is that of its objects, as far as it says that it is built.
    private func check(_ when: String) throws {
        guard let opened else { return }
        for state in try opened.items.indexStates() {
            counts.checkedIndexes += 1
            if case .building = state.progress { counts.unbuiltIndexes += 1 }
            if let fault = state.faults.first {
                throw SimulationFailure("\(when), index \(state.name): \(fault)")
            }
        }
        try ask(opened, SimulatedQuery(&random))
    }

    /// A query and a filter of all objects, at one moment.
    func ask(_ opened: Opened, _ query: SimulatedQuery) throws {
        let (all, found, count) = try opened.workspace.read { view in
            (
                try view.fetch(opened.items.all),
                try view.fetch(
                    opened.items.where(query.condition).order(by: \.rank, .descending)),
                try view.count(of: opened.items.where(query.condition))
            )
        }
        let expected = all.enumerated().filter { query.matches($0.element) }
            .sorted { ($1.element.rank, $0.offset) < ($0.element.rank, $1.offset) }
            .map(\.element)
        counts.queries += 1
        guard found == expected, count == expected.count else {
            throw SimulationFailure(
                "\(query.condition) gives \(found.map(\.id)), \(count), not \(expected.map(\.id))")
        }
    }

    // MARK: Steps

    private func takeSteps(_ count: Int) async throws {
        for _ in 0..<count {
            guard let opened, !fileSystem.isOff else { return }
            do { try await step(opened) } catch let error as RoostError { try excuse(error) }
        }
    }

    private func step(_ opened: Opened) async throws {
        counts.steps += 1
        let step = ObjectStep(&random, idCount: idCount)
        note("\(step)")
        switch step {
        case .query(let query): try ask(opened, query)
        case .wait(let duration): try await scheduling.sleep(for: duration)
        case .compact: try await opened.workspace.compact()
        default: if try await step.perform(on: opened.items) { counts.updatesAtOnce += 1 }
        }
    }

    private func attempt(_ body: () throws -> Void) throws {
        do { try body() } catch let error as RoostError { try excuse(error) }
    }

    private func excuse(_ error: RoostError) throws {
        note("\(error)")
        if [.alreadyExists, .notUnique].contains(error.code) { return }
        if error.code == .conflict, error.message.contains("without enqueuing") { return }
        // Of a building that somebody asked for: two objects have the value that is to be unique.
        if error.code == .conflict, error.message.contains("\"slug\" cannot be built") { return }
        guard fileSystem.isOff, [.io, .poisoned, .closed].contains(error.code) else {
            throw SimulationFailure("an error without a reason: \(error)")
        }
    }
}
