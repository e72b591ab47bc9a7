import RoostEngine
import RoostFormat
import RoostIO
import Synchronization

/// The indexes of one dictionary's objects, as a type declares them.
///
/// - `state.set` is what writers write. It is published before the marks of its new indexes are, so
///   that an object is either changed with its entries or found by the building that follows.
/// - Adopting the declaration, by `adopt`, is one task at a time; so is the building of an index.
final class ObjectIndexes<Item: Sendable>: DeclaredObjectIndexes {
    private struct State {
        var set: IndexSet<Item>?
        var adoption: Task<IndexSet<Item>, any Error>?
        var isAdopted = false
        /// How often what is declared has changed: an adoption that began before is made again.
        var declarationCount = 0
        var buildings: [UInt64: Task<Void, any Error>] = [:]
    }

    let engine: Engine
    private let dictionaryName: String
    private let engineName: DictionaryName?
    private let migrations: MigrationRegistry
    private let indexNumbers: IndexNumbers
    private let backgroundWrites: BackgroundWrites
    let codec: ValueCodec<Item>
    let declared: [Index<Item>]
    /// Where another type has the dictionary: what every use of these throws.
    private let refusal: RoostError?
    private let state = Mutex(State())
    let looks = IndexLooks()
    /// Whether writers have nothing to wait for.
    private let isReady = Atomic<Bool>(false)
    var isReadyToWrite: Bool { isReady.load(ordering: .acquiring) }

    init(
        _ dictionary: WorkspaceDictionary, _ codec: ValueCodec<Item>, _ declared: [Index<Item>],
        refusal: RoostError? = nil
    ) {
        self.refusal = refusal
        engine = dictionary.workspace.engine
        dictionaryName = dictionary.name
        engineName = dictionary.engineName
        migrations = dictionary.workspace.migrations
        indexNumbers = dictionary.workspace.indexNumbers
        backgroundWrites = dictionary.workspace.backgroundWrites
        self.codec = codec
        self.declared = declared
        checkNames(of: declared)
    }

    private func checkedName() throws -> DictionaryName {
        guard let engineName else { throw WorkspaceDictionary.nameTooLong }
        return engineName
    }

    var objects: IndexedObjects<Item> {
        get throws {
            IndexedObjects(
                engine: engine, name: try checkedName(), migrations: migrations, codec: codec)
        }
    }

    /// The shape of an index, and of the values that it reads: a migration makes others of them.
    func shape(_ index: Index<Item>) throws -> String {
        let version = migrations.migrations(of: try checkedName())?.newest
        return index.shape + (version.map { ", version \($0)" } ?? "")
    }

    // MARK: What is there

    /// The indexes that are written now. Does not suspend; the first call looks at the catalog.
    ///
    /// - Throws: `.conflict` where another type has the dictionary.
    func current() throws -> IndexSet<Item> {
        if let refusal { throw refusal }
        if let set = state.withLock({ $0.set }) { return set }
        let view = try engine.view()
        defer { view.close() }
        let found = try existing(IndexCatalog.readRoot(view), view)
        // What is missing a writer beside may be building.
        if !engine.isWritable, !found.missing.isEmpty { return found }
        return state.withLock { state in
            if state.set == nil { state.set = found }
            return state.set ?? found
        }
    }

    /// As `current`, for who reads in `view` and may begin no other: live results that are read again under their mutex,
    /// which those take who are told of what a view makes. What is found is not kept, as the view may be older than it.
    func current(in view: EngineView) throws -> IndexSet<Item> {
        if let refusal { throw refusal }
        if let set = state.withLock({ $0.set }) { return set }
        return try existing(IndexCatalog.readRoot(view), view)
    }

    /// Those of the declared indexes that the catalog has and whose marks are there.
    ///
    /// - Parameter isAdopting: Without those that are to be built anew: what failed once is tried again at each
    ///   opening, and so is what is found not to agree with the declaration.
    private func existing(
        _ root: IndexCatalog.Root, _ view: EngineView, isAdopting: Bool = false
    ) throws -> IndexSet<Item> {
        var active: [IndexSet<Item>.Active] = []
        var missing: [Index<Item>] = []
        for index in declared {
            let shape = try shape(index)
            let listed = root.indexes.first {
                $0.isOf(dictionaryName) && $0.name == index.name && $0.shape == shape
            }
            let found = listed.map { IndexSet<Item>.Active(index, $0.number) }
            let progress = try found.flatMap { try IndexCatalog.progress($0.mark, view) }
            guard let found, let progress else {
                missing.append(index)
                continue
            }
            if isAdopting, try isToBeReplaced(found, progress, view) {
                missing.append(index)
            } else {
                active.append(found)
            }
        }
        return IndexSet(active, missing: missing)
    }

    /// Writers of this set have nothing to wait for any more.
    func noteReadyToWrite(_ set: IndexSet<Item>) {
        state.withLock { state in
            if state.isAdopted, state.set === set { isReady.store(true, ordering: .releasing) }
        }
    }

    // MARK: Adopting

    /// Returns once all declared indexes are written with each object, and begins to build those that
    /// are not complete; those that are not declared any more are dropped.
    @discardableResult
    func adopted() async throws -> IndexSet<Item> {
        if let refusal { throw refusal }
        let known = state.withLock { state in state.isAdopted ? state.set : nil }
        if let known { return known }
        return try await adoption().value
    }

    private func adoption() -> Task<IndexSet<Item>, any Error> {
        state.withLock { state in
            if let adoption = state.adoption { return adoption }
            let adoption = Task.detached(
                executorPreference: engine.taskExecutor, priority: .userInitiated
            ) { [self] in
                do {
                    while true {
                        let count = self.state.withLock { $0.declarationCount }
                        let set = try await adopt()
                        let isAdopted = self.state.withLock { state in
                            // What a query has found meanwhile not to agree is to be built anew too.
                            state.isAdopted =
                                state.declarationCount == count
                                && !set.active.contains {
                                    self.looks.answer(of: $0.number) == false
                                }
                            // At one moment: whoever says afterwards that something is to be adopted
                            // must not be given this task, which has ended.
                            if state.isAdopted { state.adoption = nil }
                            return state.isAdopted
                        }
                        if isAdopted { return set }
                    }
                } catch {
                    self.state.withLock { $0.adoption = nil }
                    throw error
                }
            }
            state.adoption = adoption
            return adoption
        }
    }

    /// Begins to adopt, where that is still to be done, and does not wait for it.
    func beginAdopting() {
        guard refusal == nil, !state.withLock({ $0.isAdopted }), engine.isWritable else { return }
        _ = adoption()
    }

    /// Whether the mark of an index is there now: a view that does not have it may be older than the index. It begins no
    /// view, as live results ask too when they are read again, under their mutex.
    func isMarked(_ active: IndexSet<Item>.Active) throws -> Bool {
        try engine.contains(recordKey: active.mark)
    }

    /// The type has another version from now on, of which its indexes are: those of the earlier one may be unlike
    /// it, or not have been built as nothing could be decoded.
    func noteMigration() {
        state.withLock { state in
            state.declarationCount += 1
            state.isAdopted = false
            state.set = nil
            isReady.store(false, ordering: .releasing)
        }
        beginAdopting()
    }

    /// A mark was taken away: adopts anew, which builds the index anew.
    func noteMarkMissing() {
        guard engine.isWritable else { return state.withLock { $0.set = nil } }
        state.withLock { state in
            state.isAdopted = false
            isReady.store(false, ordering: .releasing)
        }
        beginAdopting()
    }

    private func adopt() async throws -> IndexSet<Item> {
        // Those of an attempt that was lost are taken again: writers may have written entries of them.
        var numbers: [String: UInt64] = [:]
        while true {
            let view = try engine.view()
            defer { view.close() }
            let root = try IndexCatalog.readRoot(view)
            var change = try CatalogChange(root, dictionaryName, view)
            let found = try existing(root, view, isAdopting: true)
            let kept = Set(found.active.map(\.number))
            var active = found.active
            if !found.missing.isEmpty || change.hasOthers(than: kept) {
                change.drop(allBut: kept)
                for index in found.missing {
                    let number =
                        numbers[index.name] ?? indexNumbers.next(root.nextNumber)
                    numbers[index.name] = number
                    let added = IndexSet<Item>.Active(index, number)
                    looks.noteAdded(number, insteadOf: root.numbers(of: index.name, dictionaryName))
                    active.append(added)
                    change.add(index.name, try shape(index), number)
                }
                let set = IndexSet(active)
                state.withLock { $0.set = set }
                // Those that are dropped are guarded until they are: nobody writes them any more, and a
                // crash may leave their marks.
                let name = try checkedName()
                let dropped = change.droppedMarks
                await engine.guardWrites(of: name, marks: set.marks.union(dropped))
                guard try await change.commit(engine) else { continue }
                if !dropped.isEmpty { await engine.guardWrites(of: name, marks: set.marks) }
            } else {
                // The same set where nothing is new: its identity says so.
                state.withLock { state in
                    if state.set?.marks != found.marks { state.set = found }
                }
                if !found.marks.isEmpty {
                    await engine.guardWrites(of: try checkedName(), marks: found.marks)
                }
            }
            for index in active { beginBuilding(index) }
            return state.withLock { $0.set } ?? IndexSet(active)
        }
    }

    // MARK: Building

    private func beginBuilding(_ active: IndexSet<Item>.Active) {
        state.withLock { state in
            guard state.buildings[active.number] == nil else { return }
            state.buildings[active.number] = Task.detached(
                executorPreference: engine.indexingThread.forTasks
            ) { [self] in
                defer { self.state.withLock { $0.buildings[active.number] = nil } }
                do {
                    let building = IndexBuilding(active, try objects) { [backgroundWrites] in
                        backgroundWrites.isLeft
                    }
                    if try await building.run() == .marked { noteMarkMissing() }
                } catch let error as RoostError where error.code == .closed {
                    // It goes on at the next opening.
                } catch {
                    engine.failures.note(
                        error as? RoostError
                            ?? RoostError(
                                .io, "index \"\(active.index.name)\" could not be built",
                                cause: error))
                    throw error
                }
            }
        }
    }

    /// Returns once all declared indexes are complete, or cannot be built; with `throwing` says why.
    ///
    /// - Throws: `.closed` where an index was taken away while it was built and the workspace is about to be
    ///   closed: closing waits for who waits here, and others may take it away again and again.
    func built(throwing: Bool = false) async throws {
        while true {
            let set = try await adopted()
            for active in set.active {
                let building = state.withLock { $0.buildings[active.number] }
                try await building?.value
            }
            let view = try engine.view()
            defer { view.close() }
            var isDone = true
            for active in set.active {
                switch try IndexCatalog.progress(active.mark, view) {
                case .failed(let reason) where throwing:
                    throw RoostError(
                        .conflict, "index \"\(active.index.name)\" cannot be built: \(reason)")
                case .built, .failed: break
                case .building:
                    isDone = false
                    beginBuilding(active)
                case nil:
                    isDone = false
                    noteMarkMissing()
                }
            }
            if isDone { return }
            if backgroundWrites.isClosing { throw BackgroundWrites.closedWhileIndexing }
            try checkCancellation()
            await Task.yield()
        }
    }
}

extension ObjectIndexes {
    /// Builds all declared indexes anew; returns once they are complete.
    ///
    /// - Throws: `.conflict` where one cannot be built.
    func rebuild() async throws {
        let set = try await adopted()
        var batch = EncodedBatch(hashSeed: engine.hashSeed)
        for active in set.active {
            batch.write(nil, recordKey: active.mark, in: IndexCatalog.name)
        }
        _ = try await engine.commit(batch, durability: nil)
        noteMarkMissing()
        try await built(throwing: true)
    }
}

/// The objects that indexes are of, for what works in the background. It does not refer to the workspace: who has let go of
/// that may open the directory again, and waits for this instead of being refused.
struct IndexedObjects<Item: Sendable>: Sendable {
    let engine: Engine
    let name: DictionaryName
    let migrations: MigrationRegistry
    let codec: ValueCodec<Item>

    func decode(_ stored: UnsafeRawBufferPointer, key: String) throws -> Item {
        try codec.decode(stored: stored, key: key, name: name, migrations: migrations)
    }
}
