import Observation
import RoostIO

/// A repository's items for user interfaces: `items` follows what is saved and deleted, by
/// whomever, and observers are told.
///
/// - Reading and decoding happen off the main actor; each change is applied on its own, without
///   loading the others again. The changes of one batch are applied together.
/// - What is added and removed here shows at once, and no older change of it comes back over it. Of a type that is
///   ``Indexed`` it is then written with its entries, by a transaction afterwards, and what fails leaves the list again:
///   see ``failure``.
/// - `items` is in the order of the bytes of the identifiers. It is empty until the first loading
///   is through, which begins when this is made: see ``isLoaded``.
/// - It ends following when it goes or the workspace is closed; and where a writer can be followed no more, which ``failure``
///   says.
@MainActor
@Observable
public final class ObservedRepository<Item: Identifiable & Sendable> where Item.ID: Sendable {
    /// All items, as of the last change that was applied.
    public var items: [Item] { sorted.items }
    /// Whether `items` has been loaded.
    public private(set) var isLoaded = false
    /// Why loading failed, an item could not be read, or one that was added or removed here not be written,
    /// the last time that something did: `.notUnique` where its value is taken.
    public private(set) var failure: RoostError?
    /// Where the items are stored.
    public nonisolated let repository: Repository<Item>

    private var sorted = SortedItems<Item>()
    /// What was added and removed here and is not written yet, by the bytes of its key, as strings take
    /// canonically equal ones for one: it is shown, whatever others write meanwhile.
    @ObservationIgnored private var ahead: [[UInt8]: (item: Item?, count: Int)] = [:]
    /// What was added and removed here, and may be followed by what came before.
    @ObservationIgnored private var own = OwnChanges()
    @ObservationIgnored private var lastWrite: Task<Void, Never>?
    @ObservationIgnored private var following: Task<Void, Never>?
    @ObservationIgnored private var listening: Task<Void, Never>?

    /// Follows the items of `repository`, and begins to load them.
    public init(_ repository: Repository<Item>) {
        self.repository = repository
        let lostWrites = repository.dictionary.workspace.engine.failures.listenToLostWrites()
        follow()
        listening = Task { [weak self] in
            // An item that was added here may be among what was lost.
            for await _ in lostWrites { self?.follow() }
        }
    }

    deinit {
        following?.cancel()
        listening?.cancel()
    }

    // MARK: Changing

    /// Adds an item, or replaces the one with its identifier: it is among `items` when this
    /// returns, visible to all readers, and written in the background.
    /// See `enqueue(_:forKey:)` for what may fail, and when.
    ///
    /// Of an ``Indexed`` type other readers see it once it is written, as by
    /// ``Repository/save(_:durability:)``, in the order in which items are added and removed here; what
    /// fails then ``failure`` tells. ``written()`` waits for that, and so do ``Workspace/synchronize()`` and
    /// ``Workspace/close()``.
    @discardableResult
    public func add(_ item: Item) -> Result<Void, RoostError> {
        let key = repository.key(of: item.id)
        guard repository.indexes == nil else {
            if let refusal { return .failure(refusal) }
            sorted.set(item, key)
            write(key, item) { try await $0.save(item) }
            return .success(())
        }
        let result = repository.enqueue(item, key)
        if case .success = result {
            noteOwn(key)
            sorted.set(item, key)
        }
        return result
    }

    /// Removes an item by its identifier, in the same way.
    @discardableResult
    public func remove(_ id: Item.ID) -> Result<Void, RoostError> {
        let key = repository.key(of: id)
        guard repository.indexes == nil else {
            if let refusal { return .failure(refusal) }
            sorted.remove(key)
            write(key, nil) { try await $0.delete(id) }
            return .success(())
        }
        let result = repository.dictionary.enqueueRemoval(forKey: key)
        if case .success = result {
            noteOwn(key)
            sorted.remove(key)
        }
        return result
    }

    /// Removes an item, by its identifier.
    @discardableResult
    public func remove(_ item: Item) -> Result<Void, RoostError> { remove(item.id) }

    /// Why nothing can be written: `.closed`, `.readOnly`, `.poisoned`.
    private var refusal: RoostError? {
        do {
            try repository.dictionary.workspace.engine.checkWritable()
            return nil
        } catch {
            return error as? RoostError
        }
    }

    /// Returns once what was added and removed here until now is visible to all readers, or has failed:
    /// before the workspace is closed, for instance. How durable it is then is that of the workspace.
    public func written() async { await lastWrite?.value }

    /// Writes after what was written here before.
    private func write(
        _ key: String, _ item: Item?,
        _ change: @escaping @Sendable (Repository<Item>) async throws -> Void
    ) {
        let bytes = Array(key.utf8)
        ahead[bytes] = (item, (ahead[bytes]?.count ?? 0) + 1)
        let writes = repository.dictionary.workspace.backgroundWrites
        lastWrite = writes.begin { [weak self, repository, lastWrite] in
            await lastWrite?.value
            var failure: (any Error)?
            do { try await change(repository) } catch { failure = error }
            await self?.noteWritten(key, failure)
        }
    }

    private func noteWritten(_ key: String, _ error: (any Error)?) {
        if let error {
            failure =
                error as? RoostError
                ?? RoostError(.io, "an item could not be written", cause: error)
        }
        let bytes = Array(key.utf8)
        guard let (item, count) = ahead[bytes] else { return }
        if count > 1 {
            ahead[bytes] = (item, count - 1)
            return
        }
        ahead[bytes] = nil
        // What others have made of it meanwhile, or before.
        showStored(key)
    }

    /// Shows what is stored at this moment, rather than what a change brought that may be older.
    private func showStored(_ key: String) {
        do {
            let stored = try repository.dictionary.read(key, repository.codec)
            noteOwn(key)
            if let stored { sorted.set(stored, key) } else { sorted.remove(key) }
        } catch {
            // What was shown when the workspace was closed stays.
            if (error as? RoostError)?.code == .closed { return }
            noteOwn(key)
            sorted.remove(key)
            note(error)
        }
    }

    /// What is shown of the key was stored at this moment: called behind the write or the reading.
    private func noteOwn(_ key: String) {
        let engine = repository.dictionary.workspace.engine
        own.note(Array(key.utf8), engine.hasEnqueued ? nil : engine.lastSequence)
    }

    /// Shows an item, or with `nil` none, as the batch `version` has written it.
    private func show(_ item: Item?, _ key: String, _ version: UInt64) {
        let bytes = Array(key.utf8)
        // What is written here comes after, and is shown already.
        if ahead[bytes] != nil { return }
        guard own.isPassed(bytes, by: version) else { return showStored(key) }
        if let item { sorted.set(item, key) } else { sorted.remove(key) }
    }

    /// Behind a result that may be older than what was added and removed here.
    private func showOwn() {
        for bytes in own.keys where ahead[bytes] == nil {
            showStored(String(decoding: bytes, as: UTF8.self))
        }
        for (bytes, change) in ahead {
            let key = String(decoding: bytes, as: UTF8.self)
            if let item = change.item { sorted.set(item, key) } else { sorted.remove(key) }
        }
    }

    private func forgetOwn(before version: UInt64) {
        let engine = repository.dictionary.workspace.engine
        if own.hasUnsettled, !engine.hasEnqueued { own.settle(engine.lastSequence) }
        own.forget(before: version)
    }

    // MARK: Following

    /// Loads all items and follows the changes from then on; what was followed before is left.
    private func follow() {
        following?.cancel()
        following = Task.detached { [weak self, repository] in
            do {
                while !Task.isCancelled {
                    let (items, changes) = try await repository.follow()
                    await self?.load(items)
                    // Again from the begin where the changes came too fast.
                    let isMissing = await Self.apply(changes) { [weak self] ready in
                        await self?.apply(ready)
                    }
                    guard isMissing else { break }
                }
                let engine = repository.dictionary.workspace.engine
                if let failure = engine.readingFailure { await self?.note(failure) }
            } catch {
                await self?.note(error)
            }
        }
    }

    /// Hands on the changes, as many at a time as are there; `true` where some were missed.
    private nonisolated static func apply(
        _ changes: DictionaryChanges<Item>,
        _ apply: @Sendable ([DictionaryChange<Item>]) async -> Void
    ) async -> Bool {
        for await change in changes {
            var ready = [change]
            while let next = changes.nextReady() { ready.append(next) }
            let isWhole = !ready.contains { if case .missed = $0 { true } else { false } }
            guard isWhole else { return true }
            await apply(ready)
        }
        return false
    }

    private func load(_ items: [(key: String, value: Item)]) {
        if Task.isCancelled { return }
        sorted = SortedItems(items)
        showOwn()
        isLoaded = true
    }

    private func apply(_ changes: [DictionaryChange<Item>]) {
        if Task.isCancelled { return }
        for change in changes {
            // Of one batch several keys are told.
            if let version = change.version { forgetOwn(before: version) }
            switch change {
            case .set(let key, let item, let version): show(item, key, version)
            case .removed(let key, let version): show(nil, key, version)
            case .removedAll:
                sorted = SortedItems()
                showOwn()
            case .unreadable(let key, let error, let version):
                show(nil, key, version)
                failure = error
            case .missed: preconditionFailure("what was missed is loaded again")
            }
        }
    }

    private func note(_ error: any Error) {
        let error =
            error as? RoostError ?? RoostError(.io, "the items could not be loaded", cause: error)
        if error.code != .cancelled, error.code != .closed { failure = error }
    }
}

/// Items in the order of the bytes of their keys.
///
/// - `keys` and `items` are of one length, and what stands at one place in them belongs together.
struct SortedItems<Item> {
    private var keys: [String] = []
    private(set) var items: [Item] = []

    init() {}

    /// `entries` are in order already.
    init(_ entries: [(key: String, value: Item)]) {
        keys = entries.map(\.key)
        items = entries.map(\.value)
    }

    mutating func set(_ item: Item, _ key: String) {
        let (index, isFound) = find(key)
        if isFound {
            items[index] = item
        } else {
            keys.insert(key, at: index)
            items.insert(item, at: index)
        }
    }

    mutating func remove(_ key: String) {
        let (index, isFound) = find(key)
        guard isFound else { return }
        keys.remove(at: index)
        items.remove(at: index)
    }

    /// Where the key is, or would be.
    private func find(_ key: String) -> (index: Int, isFound: Bool) {
        var low = 0
        var high = keys.count
        while low < high {
            let middle = (low + high) / 2
            // Not `<` of strings, which takes canonically equal ones for one.
            if keys[middle].utf8.lexicographicallyPrecedes(key.utf8) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return (low, low < keys.count && keys[low].utf8.elementsEqual(key.utf8))
    }
}
