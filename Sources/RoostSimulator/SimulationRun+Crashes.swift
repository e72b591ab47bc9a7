import Roost
import RoostEngine
import RoostFormat
import RoostIO
import RoostSimulation

extension SimulationRun {
    // MARK: Crashes

    func crash(isPowerCut: Bool) async throws {
        countFaults()
        let disk = fileSystem.turnOff()
        countWork()
        if workspace != nil {
            requiredCount = history.acknowledgedCount
            requiresAcknowledged = true
        }
        if isPowerCut {
            requiredCount = min(history.durableCount, requiredCount)
            requiresAcknowledged = false
        }
        workspace = nil
        counts.crashes += 1
        if isPowerCut { counts.powerCuts += 1 } else { counts.kills += 1 }
        var choices = RandomChoices(seed: random.next())
        let survivor = isPowerCut ? disk.afterPowerCut(&choices) : disk.afterKill()
        counts.add(choices.effects, disk)
        note("\(isPowerCut ? "power cut" : "kill") at \(history.lastKnown), needs \(requiredCount)")
        note("  \(survivor.listing.joined(separator: ", "))")
        fileSystem = SimulatedFileSystem(disk: survivor, scheduling: scheduling)
        isFaultLasting = false
        countedFaults = [:]
        if random.once(in: 2) { try await tryRot(survivor) }
    }

    func countWork() {
        guard let statistics = workspace?.engine.statistics else { return }
        counts.flushes += statistics.flushCount
        counts.merges += statistics.mergeCount
    }

    // MARK: Openings

    func open() async throws {
        guard workspace == nil else { return }
        for attempt in 0... {
            let isDisturbed = attempt < 3
            if isDisturbed, random.once(in: 4) { fileSystem.stop(afterCalls: random.below(25)) }
            if isDisturbed, random.once(in: 8) { injectFault() }
            if !isDisturbed {
                fileSystem.stop(afterCalls: nil)
                clearFaults()
            }
            pastFaults = fileSystem.firedFaults
            hasPastFaults = false
            mayBePoisoned = false
            do {
                let (opened, secret) = try await open(fileSystem)
                secrets = [secret]
                if opened.isEncrypted, random.once(in: 3) {
                    // What was opened is crashed with the machine where this fails.
                    try await changeKey(of: opened)
                }
                try check(opened)
                workspace = opened
                return
            } catch let error as RoostError {
                note("opening failed: \(error)")
                try excuse(error)
            }
            countFaults()
            if fileSystem.isOff {
                counts.crashesWhileOpening += 1
                try await crash(isPowerCut: random.once(in: 2))
            }
        }
    }

    /// The workspace, and the key that opens it.
    private func open(
        _ fileSystem: SimulatedFileSystem
    ) async throws -> (workspace: Workspace, secret: UInt64) {
        // Nothing on disk depends on it.
        engineConfiguration.shardCount = [1, 2, 4][random.below(3)]
        let configuration = engineConfiguration
        var left = secrets
        while true {
            let secret = left.removeLast()
            do {
                let opened = try await Workspace.open(
                    at: "/simulated", configuration: .init(),
                    fileSystem: fileSystem.underEngine(secret: secret)
                ) { $0 = configuration }
                return (opened, secret)
            } catch let error as RoostError where error.code == .wrongKey && !left.isEmpty {}
        }
    }

    /// Has another key open the workspace, as calls of others go on.
    func changeKey(of workspace: Workspace) async throws {
        // One after another, so that it is known which is the last.
        if isChangingKey { return }
        isChangingKey = true
        defer { isChangingKey = false }
        let secret = secrets.max()! + 1
        note("another key: \(secret)")
        secrets.append(secret)
        try await workspace.rotateKey(to: WorkspaceEncryption(SimulatedSealing(secret: secret)))
        note("the key is \(secret)")
        // Of a machine that is off nothing is known.
        if !fileSystem.isOff { secrets.removeAll { $0 < secret } }
    }

    /// An opening must have kept a prefix of the batches, long enough, and all of it.
    private func check(_ opened: Workspace) throws {
        counts.openings += 1
        let engine = opened.engine
        counts.tornTails += engine.recovery.tornTails.count
        let kept = Int(engine.recovery.lastSequence)
        note("opened at \(kept), torn tails \(engine.recovery.tornTails.map(\.offset))")
        guard kept >= requiredCount else {
            throw SimulationFailure("lost: \(requiredCount) batches were safe, \(kept) are there")
        }
        let found = try engine.content()
        if let difference = history.keep(kept, showing: found, isWhole: requiresAcknowledged) {
            throw SimulationFailure("after an opening with \(kept) batches: \(difference)")
        }
        requiredCount = kept
    }

    // MARK: Bit rot

    /// Flips one bit of a copy of the disk and opens that: what is read then is right, or said to
    /// be damaged, or the log's end is declared torn.
    private func tryRot(_ disk: Disk) async throws {
        var rotten = disk
        guard let place = rotten.rot(&random) else { return }
        counts.faults["bitRot", default: 0] += 1
        var history = history
        do {
            let (opened, _) = try await open(
                SimulatedFileSystem(disk: rotten, scheduling: scheduling))
            let recovery = opened.engine.recovery
            let kept = Int(recovery.lastSequence)
            guard kept >= requiredCount || !recovery.tornTails.isEmpty else {
                throw SimulationFailure(
                    "\(place): lost without a word, \(kept) of \(requiredCount)")
            }
            let found = try opened.engine.content()
            if let difference = history.keep(
                kept, showing: found, isDamaged: !recovery.tornTails.isEmpty)
            {
                throw SimulationFailure("\(place), opened with \(kept) batches: \(difference)")
            }
            counts.rotHarmless += 1
        } catch let error as RoostError {
            let codes: [RoostError.Code] = [.corrupt, .unsupportedVersion, .wrongKey]
            guard codes.contains(error.code) else {
                throw SimulationFailure("\(place): \(error)")
            }
            counts.rotFound += 1
        }
    }
}
