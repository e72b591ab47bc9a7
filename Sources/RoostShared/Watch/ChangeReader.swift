import Roost
import RoostFormat
import RoostIO

extension SharedDictionary {
    /// Every change of the selected keys, once and in the order of their commits; as the call that takes a prefix.
    ///
    /// Watching begins with the first element that is asked for: after the version `since`, or with the next
    /// change where that is `nil`. Versions are the engine's revisions. After any break it goes on where it was.
    /// Where the engine no longer has what came since, it tells `.missed`, with how many versions are
    /// missing: the next change has at least the version that was told last, more by that count.
    ///
    /// It ends when the workspace is closed, and for a reader whose task is cancelled.
    public func changes<Value>(
        _ selection: KeySelection, form: ValueForm<Value>, since version: UInt64?
    ) -> KeyValueChanges<Value> {
        KeyValueChanges {
            let reader = ChangeReader(self, self.range(selection.bounds), after: version)
            return {
                guard let change = await reader.next() else { return nil }
                return self.change(change) { stored, key in
                    try form.value(ofStored: stored, key: key, in: try self.checkedName())
                }
            }
        }
    }

    func change<Value>(
        _ element: ChangeReader.Element,
        _ decode: (_ stored: [UInt8], _ key: String) throws -> Value
    ) -> DictionaryChange<Value> {
        let change: SharedChange
        switch element {
        case .missed(let count): return .missed(count: count)
        case .changed(let one): change = one
        }
        let key = String(decoding: change.key.dropFirst(start.count), as: UTF8.self)
        guard let stored = change.value, connection.clock.isLive(stored) else {
            return .removed(key: key, version: change.revision)
        }
        do {
            return .set(key: key, value: try decode(stored, key), version: change.revision)
        } catch {
            let error =
                error as? RoostError
                ?? RoostError(.decodingFailed, "\"\(key)\" could not be read", cause: error)
            return .unreadable(key: key, error: error, version: change.revision)
        }
    }
}

/// Reads the changes of a range, from one connection of the engine to the next.
///
/// - Everything up to `revision` was taken from the engine; what of it `next` has not given yet is in `waiting`.
package final class ChangeReader {
    package enum Element: Sendable {
        case changed(SharedChange)
        case missed(count: Int)
    }

    private let dictionary: SharedDictionary
    private let range: SharedKeyRange
    private var revision: UInt64?
    private var events: AsyncThrowingStream<SharedEvent, any Error>.Iterator?
    private var waiting: ArraySlice<Element> = []
    private var backoff = Backoff()

    package init(
        _ dictionary: SharedDictionary, _ range: SharedKeyRange, after revision: UInt64?
    ) {
        self.dictionary = dictionary
        self.range = range
        self.revision = revision
    }

    /// The next change; `nil` where the workspace was closed or the task cancelled.
    package nonisolated(nonsending) func next() async -> Element? {
        while waiting.isEmpty {
            guard let elements = await nextElements()?.elements else { return nil }
            waiting = ArraySlice(elements)
        }
        return waiting.popFirst()
    }

    /// All changes up to a revision from behind those before, none where the engine tells only how far it is; `nil`
    /// as of `next`. Commits are never cut.
    package nonisolated(nonsending) func nextElements() async -> (
        elements: [Element], through: UInt64
    )? {
        while true {
            if Task.isCancelled || range.isEmpty { return nil }
            do {
                guard let event = try await nextEvent() else { continue }
                backoff = Backoff()
                return take(event)
            } catch let error as RoostError where error.code == .closed {
                return nil
            } catch {
                events = nil
                do { try await backoff.wait(before: .now + .seconds(60)) } catch { return nil }
            }
        }
    }

    private nonisolated(nonsending) func nextEvent() async throws -> SharedEvent? {
        let connection = dictionary.connection
        let after: UInt64
        if let revision {
            after = revision
        } else {
            let read = SharedRead(SharedKeyRange(connection.keys.format))
            after = try await connection.read(read, before: dictionary.workspace.callEnd).revision
            revision = after
        }
        var iterator = events ?? connection.engine.watch(range, after: after).makeAsyncIterator()
        let event = try await iterator.next(isolation: #isolation)
        // One that has ended is not asked again.
        events = event == nil ? nil : iterator
        return event
    }

    private func take(_ event: SharedEvent) -> (elements: [Element], through: UInt64) {
        let last = revision ?? 0
        switch event {
        case .changes(let changes, let through):
            let revision = max(last, through)
            self.revision = revision
            // What came before a break may come again.
            return (changes.filter { $0.revision > last }.map { .changed($0) }, revision)
        case .compacted(let oldest):
            events = nil
            guard oldest > last + 1 else { return ([], last) }
            revision = oldest - 1
            return ([.missed(count: Int(clamping: oldest - last - 1))], oldest - 1)
        }
    }
}
