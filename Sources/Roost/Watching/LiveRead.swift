import Foundation
import Observation
import RoostIO

/// What a read gives, for user interfaces: `value` follows what is written to anything that the read looked at, by
/// whomever, and observers are told.
///
/// ```swift
/// @State var overview = LiveRead(workspace) { view in
///     Overview(open: try view.count(of: open), next: try view.first(open.order(by: \.due)))
/// }
/// ```
///
/// - The first value is there when this is made; it is read on the main actor.
/// - The read is run again when something changes that it looked at, as for ``ReadUpdates``. A write of the main actor that
///   does not suspend has changed `value` when it returns, for which the main actor reads; after others' writes, and such
///   as suspend, which batches, transactions, and those that wait for a disk or for others may, the read runs elsewhere,
///   and `value` changes in a turn of the main actor.
/// - It ends following when it goes or the workspace is closed, which it keeps open.
@MainActor
@Observable
public final class LiveRead<Value: Sendable> {
    /// What the read gave the last time that it gave something; `nil` where it has not yet.
    public private(set) var value: Value?
    /// What the read threw, where it has thrown the last time. It runs again when what it looked at changes.
    public private(set) var error: (any Error)?

    @ObservationIgnored private let read: @Sendable (ReadView) throws -> Value
    @ObservationIgnored private let isEqual: @Sendable (Value, Value) -> Bool
    @ObservationIgnored private var observation: ReadObservation?
    /// The number of the read that `value` and `error` are of.
    @ObservationIgnored private var shown: UInt64 = 0
    /// Whether it is read elsewhere.
    @ObservationIgnored private var isReading = false
    /// Whether the main actor reads, or tells its observers, who may write.
    @ObservationIgnored private var isBusyHere = false

    /// Reads, and follows. Each run of `read`, which is as that of ``ReadUpdates``, tells the observers.
    @_disfavoredOverload
    public convenience init(
        _ workspace: Workspace, _ read: @escaping @Sendable (_ view: ReadView) throws -> Value
    ) {
        self.init(workspace, read) { _, _ in false }
    }

    /// Reads, and follows. `read` is as that of ``ReadUpdates``. A value equal to the one shown tells nobody.
    public convenience init(
        _ workspace: Workspace, _ read: @escaping @Sendable (_ view: ReadView) throws -> Value
    ) where Value: Equatable {
        self.init(workspace, read) { $0 == $1 }
    }

    private init(
        _ workspace: Workspace, _ read: @escaping @Sendable (ReadView) throws -> Value,
        isEqual: @escaping @Sendable (Value, Value) -> Bool
    ) {
        self.read = read
        self.isEqual = isEqual
        let observation = ReadObservation(
            workspace,
            onOwnWrite: { [weak self] in MainActor.assumeIsolated { self?.readForOwnWrite() } },
            onDue: { [weak self] in Task { @MainActor [weak self] in self?.readElsewhere() } })
        self.observation = observation
        readHere(observation)
    }

    private func readForOwnWrite() {
        guard let observation, !observation.isEnded, !isBusyHere else { return }
        readHere(observation)
    }

    /// Once: others may write all the time, and the main actor has more to do.
    private func readHere(_ observation: ReadObservation) {
        isBusyHere = true
        show(observation.read(read))
        isBusyHere = false
        readElsewhere()
    }

    /// One read at a time: what becomes due meanwhile is seen at its end.
    private func readElsewhere() {
        guard let observation, !isReading, observation.isDue, !observation.isEnded else { return }
        isReading = true
        Task.detached { [weak self, read] in
            let outcome = observation.read(read)
            await self?.end(outcome)
        }
    }

    private func end(_ outcome: ReadOutcome<Value>) {
        isReading = false
        isBusyHere = true
        show(outcome)
        isBusyHere = false
        readElsewhere()
    }

    private func show(_ outcome: ReadOutcome<Value>) {
        // A later read may have ended first.
        guard outcome.number > shown else { return }
        shown = outcome.number
        observation?.noteShown(shown)
        switch outcome.result {
        case .success(let new):
            if error != nil { error = nil }
            if let value, isEqual(value, new) { return }
            value = new
        case .failure(let failure):
            // What was read last stays as it is once the workspace is closed.
            if value == nil || observation?.isEnded != true { error = failure }
        }
    }
}
