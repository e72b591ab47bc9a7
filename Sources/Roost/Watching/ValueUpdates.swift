import RoostEngine
import RoostIO

/// One key's value, and then each newer one; `nil` while the key has none.
///
/// - A reader that falls behind skips to the newest value, and never holds up a writer.
/// - A value comes once it is visible to readers. It is decoded by the reader.
/// - A value that does not read as `Value` is skipped and told to ``Workspace/failures``.
/// - It ends when the workspace is closed or goes, where a writer can be followed no more, which ``Workspace/catchUp()``
///   throws then, and for the reader whose task is cancelled.
///   It is for one reader: several share the elements.
public struct ValueUpdates<Value: Sendable>: AsyncSequence, Sendable {
    public typealias Element = Value?
    public typealias Failure = Never

    let watch: DictionaryWatch<Value>
    let key: String

    public func makeAsyncIterator() -> Iterator { Iterator(updates: self) }

    /// Takes the elements one by one, and waits for the next.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let updates: ValueUpdates

        public mutating func next() async -> Value?? { await next(isolation: nil) }

        /// Suspends until there is a newer value; `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Value?? {
            while let event = await updates.watch.handle?.next(isolation: actor) {
                do { return .some(try updates.value(event)) } catch {
                    updates.watch.failures.note(updates.watch.readable(error, key: updates.key))
                }
            }
            return nil
        }
    }

    private func value(_ event: WatchEvent) throws -> Value? {
        switch event.content {
        case .initial(let record): try watch.value(of: record, key: key)
        case .changed(let operation): try watch.value(of: operation, event, key: key)
        case .cleared: nil
        case .missed: preconditionFailure("a watcher of values keeps the newest")
        }
    }
}
