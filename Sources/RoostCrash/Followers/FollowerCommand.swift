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
        while !isStopped {
            openingCount += 1
            do { try await readForAWhile(state) } catch { state.note(error) }
            state.report.withLock { $0.openingCount = openingCount }
        }
        let found = state.report.withLock { $0 }
        try JSONEncoder().encode(found).write(to: URL(fileURLWithPath: report), options: .atomic)
    }

    private func followUntilStopped() async throws {
        let workspace = try await Workspace.open(at: path, configuration: .init(access: .readOnly))
        // Seldom, as that would be counted as the cost of following.
        while !isStopped { try await Task.sleep(for: .milliseconds(500)) }
        try await workspace.close()
    }

    private var isStopped: Bool { FileManager.default.fileExists(atPath: stop) }

    /// Opens, reads for some seconds, and closes: openings meet compactions and openings of writers.
    private func readForAWhile(_ state: FollowerState) async throws {
        let workspace = try await Workspace.open(
            at: path,
            configuration: .init(
                access: .readOnly, memoryBudgetBytes: 1 << 16,
                encryption: CrashEncryption.encryption(encrypted)))
        let end = ContinuousClock.now + .milliseconds(Int.random(in: 20..<8000))
        let watching = Task.detached { await watch(workspace, state) }
        do {
            while ContinuousClock.now < end, !isStopped {
                try look(workspace, state)
                try query(workspace, state)
                try await Task.sleep(for: .milliseconds(Int.random(in: 1..<10)))
            }
        } catch {
            watching.cancel()
            await watching.value
            throw error
        }
        try await workspace.close()
        await watching.value
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

    private func watch(_ workspace: Workspace, _ state: FollowerState) async {
        var lastVersion: UInt64 = 0
        for await change in workspace.dictionary("pairs").changes(as: [UInt8].self) {
            let now = FollowedPlan.nanoseconds
            switch change {
            case .set(_, let value, let version):
                guard let read = FollowedPlan.read(value) else {
                    state.noteProblem("a change of bytes that nobody wrote")
                    continue
                }
                state.noteChange(
                    read.number, isInOrder: version >= lastVersion,
                    lagNanoseconds: now - min(now, read.time))
                lastVersion = version
            case .removedAll(let version): lastVersion = version
            case .missed(let count): state.report.withLock { $0.missedCount += count }
            case .removed, .unreadable: state.noteProblem("a change that nobody made: \(change)")
            }
        }
    }
}

/// What a reader has seen, over all of its openings: a later one sees as much at least.
final class FollowerState: Sendable {
    let report = Mutex(FollowerReport())
    private let newest = Mutex<UInt64>(0)
    private let newestObject = Mutex<UInt64>(0)

    func noteView(_ numbers: [UInt64]) {
        report.withLock { $0.viewCount += 1 }
        if Set(numbers).count > 1 {
            report.withLock { report in
                report.tornCount += 1
                report.problems.append("a view of a batch by half: \(numbers)")
            }
        }
        for number in numbers { noteLook(number) }
    }

    func noteLook(_ number: UInt64) {
        let before = newest.withLock { newest in
            defer { newest = max(newest, number) }
            return newest
        }
        report.withLock { report in
            report.lookCount += 1
            guard number < before else { return }
            report.staleCount += 1
            report.problems.append("\(number) behind \(before)")
        }
    }

    func noteQuery(_ numbers: [UInt64]) {
        report.withLock { report in
            report.queryCount += 1
            guard
                Set(numbers).count > 1
                    || (!numbers.isEmpty && numbers.count != FollowedPlan.objectCount)
            else { return }
            report.tornCount += 1
            report.problems.append("a query of a batch by half: \(numbers)")
        }
        guard let number = numbers.first else { return }
        let before = newestObject.withLock { newest in
            defer { newest = max(newest, number) }
            return newest
        }
        guard number < before else { return }
        report.withLock { report in
            report.staleCount += 1
            report.problems.append("the objects of \(number) behind those of \(before)")
        }
    }

    func noteChange(_ number: UInt64, isInOrder: Bool, lagNanoseconds: UInt64) {
        report.withLock { report in
            report.changeCount += 1
            report.addLag(nanoseconds: lagNanoseconds)
            guard !isInOrder else { return }
            report.staleCount += 1
            report.problems.append("the change of \(number) behind a later one")
        }
    }

    func noteProblem(_ text: String) {
        report.withLock { report in
            report.errorCount += 1
            report.problems.append(text)
        }
    }

    func note(_ error: any Error) { noteProblem("\(error)") }
}
