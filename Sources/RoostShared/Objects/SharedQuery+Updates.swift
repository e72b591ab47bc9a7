import Roost
import RoostIO

extension SharedQuery {
    /// The result, and then each newer one.
    ///
    /// ```swift
    /// for try await posts in urgent.updates() { show(posts) }
    /// ```
    ///
    /// - Each result is of one revision, and none is older than the one before. Commits that the engine tells of at once
    ///   make one result; those that change nothing of it make none.
    /// - It begins when it is first asked for an element, for each iterator anew: it reads every match once, those outside
    ///   of a limit too, and keeps them in memory. From then on the engine sends what is written to the dictionary, or to
    ///   the identifiers that the condition names, and nothing is read again.
    /// - After a break it goes on where it was; where the engine no longer has what came since, or went back to an older
    ///   copy, all is read anew as soon as that is possible.
    /// - An object that expires leaves the result when the engine next tells of anything, at the latest of its removal.
    /// - It ends when the workspace is closed, and for a reader whose task is cancelled. An object that does not decode ends
    ///   it with an error, whether it would match or not.
    ///
    /// - Throws: while it is iterated, as ``fetch()`` for the first result, `.compacted` after a minute only, and where all is
    ///   read anew, then but for `.unavailable`; `.decodingFailed` and `.typeMismatch`, naming the key; `.notPermitted` where
    ///   the engine refuses again and again.
    public func updates() -> KeyValueSequence<[Item]> {
        KeyValueSequence {
            let live = SharedLiveQuery(self)
            return { try await live.next() }
        }
    }
}

/// One reader's live result: a run of the query, and the changes from its revision on.
///
/// - `result` is of the revision up to which `reader` has told.
/// - Once `hasEnded` there is nothing more, as an error has left the result between two revisions.
private final class SharedLiveQuery<Item: Identifiable & Sendable> where Item.ID: Sendable {
    private let query: SharedQuery<Item>
    private let run: SharedQueryRun<Item, Item>
    private var result: SharedLiveResult<Item>
    private var reader: ChangeReader?
    private var hasEnded = false

    init(_ query: SharedQuery<Item>) {
        self.query = query
        var whole = query
        whole.terms.limitCount = nil
        whole.terms.offsetCount = 0
        run = SharedQueryRun(whole)
        result = SharedLiveResult(query.terms, [])
    }

    private var connection: SharedConnectionState { query.repository.dictionary.connection }

    nonisolated(nonsending) func next() async throws -> [Item]? {
        if hasEnded { return nil }
        do {
            guard let items = try await nextItems() else {
                hasEnded = true
                return nil
            }
            return items
        } catch {
            hasEnded = true
            let code = (error as? RoostError)?.code
            if Task.isCancelled, code == .cancelled { return nil }
            // While all was read anew: the sequence ends as it does at any other moment.
            if reader != nil, code == .closed { return nil }
            throw error
        }
    }

    private nonisolated(nonsending) func nextItems() async throws -> [Item]? {
        guard let reader else { return try await readingAgain { try await begin() } }
        while let told = await reader.nextElements() {
            var isChanged = false
            for element in told.elements {
                guard case .changed(let change) = element else { return try await beginAgain() }
                isChanged = try take(change) || isChanged
            }
            isChanged = result.removeExpired(at: connection.clock.milliseconds) || isChanged
            if isChanged { return result.items }
        }
        if let failure = reader.failure, failure.code != .closed { throw failure }
        return nil
    }

    private nonisolated(nonsending) func begin() async throws -> [Item] {
        let dictionary = query.repository.dictionary
        let (matches, revision) = try await run.matches()
        result = SharedLiveResult(query.terms, matches)
        reader = ChangeReader(dictionary, dictionary.range(query.bounds), after: revision)
        return result.items
    }

    /// The engine told that it cannot tell all: it may not be reached yet, and what is read may be gone meanwhile too.
    private nonisolated(nonsending) func beginAgain() async throws -> [Item] {
        var backoff = Backoff()
        while true {
            do { return try await begin() } catch let error as RoostError
                where error.code == .unavailable || error.code == .compacted
            {
                try await backoff.wait(before: .now + .seconds(60))
            }
        }
    }

    private func take(_ change: SharedChange) throws -> Bool {
        let key = Array(change.key.dropFirst(query.repository.dictionary.start.count))
        guard let stored = change.value, connection.clock.isLive(stored) else {
            return result.set(nil, forKey: key)
        }
        let record = SharedRecord(
            key: change.key, value: stored, revision: change.revision, expires: false)
        return result.set(try run.match(record), forKey: key)
    }
}

extension SharedQuery {
    /// Where the keys are of all objects that can match.
    fileprivate var bounds: KeyBounds {
        if let keys = terms.identifierKeys({ repository.key(of: $0) }) {
            guard let first = keys.first, let last = keys.last else { return KeyBounds() }
            return KeyBounds(lower: first, upper: last + [0])
        }
        guard let ranges = terms.identifierRanges, let first = ranges.first, let last = ranges.last
        else { return KeyBounds() }
        return KeyBounds(lower: first.lower, upper: last.upper)
    }
}
