import ArgumentParser
import Foundation
import Roost
import Synchronization

/// A reader beside the writer: looks, watches and queries, and notes what must not be.
struct FollowerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "follower", shouldDisplay: false)

    @Argument var path: String
    @Option var report: String
    /// Ends when there is a file of this name.
    @Option var stop: String
    /// Follows and does nothing else.
    @Flag var followsOnly = false
    @Flag var encrypted = false

    func run() async throws {
        let state = FollowerState()
        if followsOnly { return try await followUntilStopped() }
        var openingCount = 0
        var hasSeenTheEnd = false
        while !hasSeenTheEnd {
            openingCount += 1
            do { hasSeenTheEnd = try await readForAWhile(state) } catch {
                state.note(error)
                hasSeenTheEnd = isStopped
            }
        }
        var found = state.report.withLock { $0 }
        found.openingCount = openingCount
        try JSONEncoder().encode(found).write(to: URL(fileURLWithPath: report), options: .atomic)
    }

    private func followUntilStopped() async throws {
        let workspace = try await Workspace.open(at: path, configuration: .init(access: .readOnly))
        // Seldom, as that would be counted as the cost of following.
        while !isStopped { try await Task.sleep(for: .milliseconds(500)) }
        try await workspace.close()
    }

    private var isStopped: Bool { FileManager.default.fileExists(atPath: stop) }

    /// Opens, reads for some seconds, and closes: openings meet compactions and openings of writers. Whether this
    /// was the last time.
    private func readForAWhile(_ state: FollowerState) async throws -> Bool {
        let workspace = try await Workspace.open(
            at: path,
            configuration: .init(
                access: .readOnly, memoryBudgetBytes: 1 << 16,
                encryption: CrashEncryption.encryption(encrypted)))
        let end = ContinuousClock.now + .milliseconds(Int.random(in: 20..<8000))
        // From here on it is told of each batch.
        let changes = workspace.dictionary("pairs").changes(as: [UInt8].self)
        let begin = try FollowedPlan.newest(in: workspace).number
        let watching = Task.detached { await watch(changes, FollowedChanges(upTo: begin), state) }
        let isLast: Bool
        let seen: UInt64
        do {
            var last = ContinuousClock.now
            while last < end, !isStopped {
                try look(workspace, state)
                try query(workspace, state)
                try await Task.sleep(for: .milliseconds(Int.random(in: 1..<10)))
                let now = ContinuousClock.now
                let seconds = min((now - last) / .seconds(1), 0.1)
                state.report.withLock { $0.readSeconds += seconds }
                last = now
            }
            isLast = isStopped
            if isLast { try await lookAtTheEnd(workspace, state) }
            seen = try FollowedPlan.newest(in: workspace).number
        } catch {
            watching.cancel()
            _ = await watching.value
            throw error
        }
        try await workspace.close()
        if let objection = await watching.value.objection(atEndWith: seen) {
            state.noteUntold(objection)
        }
        return isLast
    }

    /// No writer is left: what it has left is to be seen, all of it.
    private func lookAtTheEnd(_ workspace: Workspace, _ state: FollowerState) async throws {
        let told = try Data(contentsOf: URL(fileURLWithPath: stop))
        // Where the run has failed anyway, nobody says what is to be seen.
        if told.isEmpty { return }
        let expected = try JSONDecoder().decode(FollowedEnd.self, from: told)
        try await workspace.catchUp()
        try look(workspace, state)
        try query(workspace, state)
        let found = try FollowedPlan.newest(in: workspace)
        state.report.withLock { $0.endCount += 1 }
        guard found != expected else { return }
        state.noteProblem("the end is \(expected), and \(found) is seen")
    }

    private func look(_ workspace: Workspace, _ state: FollowerState) throws {
        let pairs = workspace.dictionary("pairs")
        func number(_ bytes: [UInt8]?) throws -> UInt64 {
            guard let bytes else { return 0 }
            guard let read = FollowedPlan.read(bytes) else {
                throw CrashFailure("bytes that nobody wrote")
            }
            return read.number
        }
        let numbers = try workspace.read { view in
            try FollowedPlan.pairKeys.map {
                try number(try view.value(forKey: $0, as: [UInt8].self, in: pairs))
            }
        }
        state.noteView(numbers)
        // Without a view, the later look sees as much at least.
        let keys = FollowedPlan.pairKeys.shuffled()
        for key in keys {
            state.noteLook(try number(try pairs.value(forKey: key, as: [UInt8].self)))
        }
    }

    private func query(_ workspace: Workspace, _ state: FollowerState) throws {
        let objects = workspace.repository(of: FollowedObject.self)
        let found = try objects.where { $0.number > 0 }.fetch()
        state.noteQuery(found.map(\.number))
    }

    /// Takes what is told until the workspace is closed.
    private func watch(
        _ changes: DictionaryChanges<[UInt8]>, _ told: FollowedChanges, _ state: FollowerState
    ) async -> FollowedChanges {
        var told = told
        for await change in changes {
            let now = FollowedPlan.nanoseconds
            switch change {
            case .set(let key, let value, let version):
                guard let read = FollowedPlan.read(value) else {
                    state.noteProblem("a change of bytes that nobody wrote")
                    continue
                }
                state.noteChange(lagNanoseconds: now - min(now, read.time))
                if let objection = told.noteSet(key, to: read.number, in: version) {
                    state.noteUntold(objection)
                }
            case .removedAll(let version):
                if let objection = told.noteRemovedAll(in: version) { state.noteUntold(objection) }
            case .missed(let count):
                state.report.withLock { $0.missedCount += count }
                told.noteMissed()
            case .removed, .unreadable: state.noteProblem("a change that nobody made: \(change)")
            }
        }
        return told
    }
}
