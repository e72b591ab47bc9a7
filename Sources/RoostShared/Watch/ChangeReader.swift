import Roost
import RoostFormat
import RoostIO

extension SharedDictionary {
    /// Every change of the selected keys, once and in the order of their commits; as the call that takes a prefix.
    ///
    /// Watching begins with the first element that is asked for: after the version `since`, or with the next
    /// change where that is `nil`. Versions are the engine's revisions. After any break it goes on where it was.
    /// Where the engine no longer has what came since, it tells `.missed`, with how many versions are
    /// missing: the next change has at least the version that was told last, more by that count. Where the engine
    /// went back to an older copy it tells `.missed` too, with how many versions are no more, and versions go on
    /// from there.
    ///
    /// It ends when the workspace is closed, for a reader whose task is cancelled, and where the engine refuses
    /// again and again to let the dictionary be read.
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

    /// What came at once.
    package struct Elements: Sendable {
        package var elements: [Element]
        /// All changes up to here were told.
        package var through: UInt64
        /// When the engine was so far, and no further as far as it has told.
        package var instant: ContinuousClock.Instant
    }

    /// How often in a row the engine may refuse before the reader ends: a token that has run out is refused once.
    private static let refusalLimit = 6

    private let dictionary: SharedDictionary
    private let range: SharedKeyRange
    /// Up to where nothing is to be told any more, as who reads has found out otherwise.
    private let passed: @Sendable () -> UInt64
    private var revision: UInt64?
    private var events: SharedEvents.Iterator?
    private var waiting: ArraySlice<Element> = []
    private var backoff = Backoff()
    private var refusalCount = 0
    /// Why it has ended; `nil` while it goes on, and where its task was cancelled.
    package private(set) var failure: RoostError?

    package init(
        _ dictionary: SharedDictionary, _ range: SharedKeyRange, after revision: UInt64?,
        passing passed: @escaping @Sendable () -> UInt64 = { 0 }
    ) {
        self.passed = passed
        self.dictionary = dictionary
        self.range = range
        self.revision = revision
    }

    /// The next change; `nil` where the workspace was closed, the task cancelled or reading refused.
    package nonisolated(nonsending) func next() async -> Element? {
        while waiting.isEmpty {
            guard let elements = await nextElements()?.elements else { return nil }
            waiting = ArraySlice(elements)
        }
        return waiting.popFirst()
    }

    /// All changes up to a revision from after those before, none where the engine tells only how far it is; `nil`
    /// as of `next`. Commits are never cut.
    package nonisolated(nonsending) func nextElements() async -> Elements? {
        while true {
            if Task.isCancelled || range.isEmpty || failure != nil { return nil }
            do {
                if events == nil, let told = try await begin() { return told }
                guard let event = try await nextEvent() else { continue }
                backoff = Backoff()
                refusalCount = 0
                return take(event.event, event.instant)
            } catch {
                events = nil
                if hasEnded(error) { return nil }
                do { try await backoff.wait(before: .now + .seconds(60)) } catch { return nil }
            }
        }
    }

    private func hasEnded(_ error: any Error) -> Bool {
        guard let error = error as? RoostError else { return false }
        switch error.code {
        case .closed: failure = error
        case .notPermitted, .unsupportedVersion:
            refusalCount += 1
            if refusalCount >= Self.refusalLimit { failure = error }
        default: break
        }
        return failure != nil
    }

    /// Begins to watch after `revision`.
    ///
    /// - Returns: what is told at once. Where the engine has fewer commits than were told, it went back to an older copy,
    ///   or lost what only one of its nodes had. Where it has no more, no change says how far it is, and some versions of
    ///   etcd never do.
    private nonisolated(nonsending) func begin() async throws -> Elements? {
        let connection = dictionary.connection
        if let known = revision { revision = max(known, passed()) }
        let instant = ContinuousClock.now
        let read = SharedRead(SharedKeyRange(connection.keys.format))
        let newest = try await connection.read(read, before: dictionary.workspace.callEnd).revision
        if let revision, newest < revision {
            self.revision = newest
            let lost = Element.missed(count: Int(clamping: revision - newest))
            return Elements(elements: [lost], through: newest, instant: instant)
        }
        let after = revision ?? newest
        revision = after
        events = connection.engine.watch(range, after: after).makeAsyncIterator()
        return newest == after ? Elements(elements: [], through: after, instant: instant) : nil
    }

    private nonisolated(nonsending) func nextEvent() async throws -> (
        event: SharedEvent, instant: ContinuousClock.Instant
    )? {
        guard var iterator = events else { return nil }
        let event = try await iterator.next()
        // One that has ended is not asked again.
        events = event == nil ? nil : iterator
        return event.map { ($0, iterator.instant) }
    }

    private func take(_ event: SharedEvent, _ instant: ContinuousClock.Instant) -> Elements {
        let last = max(revision ?? 0, passed())
        var taken = Elements(elements: [], through: last, instant: instant)
        switch event {
        case .changes(let changes, let through):
            taken.through = max(last, through)
            // What came before a break may come again.
            taken.elements = changes.filter { $0.revision > last }.map { .changed($0) }
        case .compacted(let oldest):
            events = nil
            guard oldest > last + 1 else { return taken }
            taken.through = oldest - 1
            taken.elements = [.missed(count: Int(clamping: oldest - last - 1))]
        }
        revision = taken.through
        return taken
    }
}
