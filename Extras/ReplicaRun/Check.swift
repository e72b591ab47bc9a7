import Foundation
import Roost
import RoostReplica

/// Restores to random moments and compares with what is known of them.
struct Check {
    let directory: String
    let storage: any ObjectStorage
    /// Those of batches, and those of starts, with which a new process goes on.
    let times: [(sequence: UInt64, time: UInt64)]
    let starts: [UInt64]
    /// From when on every moment can be restored: a writer had been told then that its copy can be.
    let restorableFrom: UInt64
    /// When the writer's process, copier and all, was held up by the machine.
    let stalls: [ClosedRange<UInt64>]
    /// How much older than asked for a state may be, in milliseconds: what lies between two marks.
    let slack: UInt64

    init(
        directory: String, storage: any ObjectStorage,
        times: [(sequence: UInt64, time: UInt64)], stalls: [ClosedRange<UInt64>], slack: UInt64,
        restorableFrom: UInt64 = 0
    ) {
        self.directory = directory
        self.storage = storage
        self.times = times.filter { $0.sequence > 0 }
        starts = times.filter { $0.sequence == 0 }.map(\.time)
        self.stalls = stalls
        self.slack = slack
        self.restorableFrom = restorableFrom
    }

    func run(count: Int, seed: UInt64) async throws {
        guard let first = times.first?.time, let last = times.last?.time else {
            ReplicaRun.fail("nothing was written")
        }
        var word = seed
        var moments: [UInt64] = []
        for _ in 0..<count {
            word = word &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            moments.append(first + (word >> 33) % (last - first + 1))
        }
        var model = Model()
        var refused = 0
        for moment in moments.sorted() {
            do {
                let report = try await restore(at: .moment(date(moment)), &model)
                compare(report.lastSequence, with: moment)
            } catch let error as RoostError
                where error.code == .io && error.message.contains("does not hold this state")
            {
                // Before the first base was complete there is nothing to begin with.
                refused += 1
                if moment >= restorableFrom { ReplicaRun.fail("\(moment): \(error)") }
            }
        }
        print(
            "restored to \(count - refused) moments: each equals the history; "
                + "\(refused) before the first base, which was there "
                + "\(restorableFrom - min(first, restorableFrom)) ms after the first batch (seed \(seed))"
        )
    }

    private func date(_ milliseconds: UInt64) -> Date {
        Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    /// Restores, and compares the whole state.
    func restore(at point: RestorePoint, _ model: inout Model) async throws -> RestoreReport {
        let path = "\(directory)/restored"
        try? FileManager.default.removeItem(atPath: path)
        let report = try await Replica.restore(
            from: storage, encryption: ReplicaRun.encryption, to: path, at: point)
        let workspace = try await Workspace.open(
            at: path, configuration: .init(access: .readOnly, encryption: ReplicaRun.encryption))
        var found: [String: String] = [:]
        for try await (key, value) in workspace.dictionary("d").entries(as: String.self) {
            found[key] = value
        }
        try await workspace.close()
        model.advance(to: report.lastSequence)
        guard found == model.state else {
            ReplicaRun.fail("\(point): the state is not that behind batch \(report.lastSequence)")
        }
        return report
    }

    /// Nothing that was committed after the moment, and everything that was committed `slack` before it. A
    /// batch is committed before its call returns, by some milliseconds.
    private func compare(_ sequence: UInt64, with moment: UInt64) {
        let heldUp = stalls.filter { $0.overlaps(moment - slack...moment) }
        let allowed = slack + heldUp.map(\.length).reduce(0, +)
        let behind = times.last { $0.time + allowed <= moment }
        // What a kill left uncopied is dated by the start that found it.
        let isFoundLater = starts.contains { start in
            behind.map { $0.time <= start && moment < start + allowed } ?? false
        }
        if let behind, behind.sequence > sequence, !isFoundLater {
            ReplicaRun.fail(
                "\(moment): batch \(behind.sequence) was committed at \(behind.time) and is missing"
            )
        }
        let later = times.last { $0.sequence < sequence }
        if let later, later.time > moment {
            ReplicaRun.fail(
                "\(moment): batch \(sequence) was committed later, behind \(later.time)")
        }
    }
}
