import RoostEngine
import RoostFormat
import RoostIO

/// The changes of a dictionary, or of a part of it, in the order in which they were committed.
///
/// - A change comes once it is visible to readers, and so once the durability that its write
///   asked for holds: that of a `.synced` write after its sync. While a batch waits for a sync,
///   watchers wait for it too before they get later ones, so versions never go down.
/// - The changes of one batch come one after the other. Of several changes of a key in one
///   batch only the last comes.
/// - Watching begins when the sequence is made, not when it is first asked for an element.
/// - A reader that falls behind never holds up a writer: what comes while `bufferCapacity`
///   changes wait, or while the waiting ones span more than four log segments (up to 64 MiB
///   each, which cannot be given back to the disk meanwhile), is counted in `missed`. A batch is
///   told whole or counted whole.
/// - Values are read and decoded by the reader, from the log. One that has expired by then is told
///   as removed; that a value expires is told at no other time, as it is no change that was committed.
/// - It ends when the workspace is closed, after what was committed before, or goes; for the
///   reader whose task is cancelled; and where a writer can be followed no more, which
///   ``Workspace/catchUp()`` throws then. It is for one reader: several share the elements.
public struct DictionaryChanges<Value: Sendable>: AsyncSequence, Sendable {
    public typealias Element = DictionaryChange<Value>
    public typealias Failure = Never

    let watch: DictionaryWatch<Value>
    /// The key, for a watcher of one.
    let key: String?

    public func makeAsyncIterator() -> Iterator { Iterator(changes: self) }

    /// Takes the elements one by one, and waits for the next.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let changes: DictionaryChanges

        public mutating func next() async -> Element? { await next(isolation: nil) }

        /// Suspends until there is a change; `nil` at the end.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async -> DictionaryChange<Value>? {
            guard let event = await changes.watch.handle?.next(isolation: actor) else { return nil }
            return changes.change(event)
        }
    }

    /// The next change that is there, without waiting.
    func nextReady() -> Element? { watch.handle?.nextReady().map(change) }

    private func change(_ event: WatchEvent) -> Element {
        switch event.content {
        case .missed(let count): return .missed(count: count)
        case .cleared:
            if let key { return .removed(key: key, version: event.version) }
            return .removedAll(version: event.version)
        case .changed(let operation):
            do { try event.checkRead(operation) } catch {
                let key = key ?? ""
                return .unreadable(
                    key: key, error: watch.readable(error, key: key), version: event.version)
            }
            let key = watch.key(of: operation, event)
            do {
                guard let value = try watch.value(of: operation, event, key: key) else {
                    return .removed(key: key, version: event.version)
                }
                return .set(key: key, value: value, version: event.version)
            } catch {
                return .unreadable(
                    key: key, error: watch.readable(error, key: key), version: event.version)
            }
        case .initial: preconditionFailure("a watcher of changes begins with none")
        }
    }
}

/// What the sequences and subscriptions share: a watcher, and how its events become values.
struct DictionaryWatch<Value: Sendable>: Sendable {
    /// `nil` where the dictionary's name is too long for it to ever have a key.
    let handle: WatchHandle?
    let name: DictionaryName?
    let decode: StoredDecoding<Value>
    let failures: WriteFailures
    let clock: ExpiryClock

    func key(of operation: Operation, _ event: WatchEvent) -> String {
        withExtendedLifetime(event.owner) {
            String(decoding: operation.key.dropFirst(name?.prefix.count ?? 0), as: UTF8.self)
        }
    }

    /// `nil` for a removal, and for a value that has expired since it was set.
    func value(of operation: Operation, _ event: WatchEvent, key: String) throws -> Value? {
        try withExtendedLifetime(event.owner) {
            try event.checkRead(operation)
            return try operation.isPut
                ? value(of: operation.value, event.version, key: key) : nil
        }
    }

    private func value(
        of stored: UnsafeRawBufferPointer, _ version: UInt64, key: String
    ) throws -> Value? {
        if let header = ValueHeader(stored), header.deadline != .never {
            guard clock.isLive(header.deadline) else { return nil }
            handle?.awaitExpiry(at: header.deadline, of: version)
        }
        // Only a dictionary with a name has events.
        return try decode.value(stored, key, name!)
    }

    /// The value that a watcher began with, or `nil` where there was none.
    func value(of record: InitialRecord, key: String) throws -> Value? {
        try record.withValue { stored in try stored.flatMap { try value(of: $0, 0, key: key) } }
    }

    func readable(_ error: any Error, key: String) -> RoostError {
        error as? RoostError
            ?? RoostError(.decodingFailed, "\"\(key)\" could not be read", cause: error)
    }
}
