#if Replica
    import Roost
    import RoostEngine

    /// A writer's journal in a storage: carries out what `JournalState` asks, again and again until an
    /// answer is had.
    ///
    /// - One call at a time.
    struct Journal: Sendable {
        private let storage: any ObjectStorage
        private(set) var state: JournalState
        /// What the entries of this writer took, as objects.
        private(set) var sizeBytesPut: UInt64 = 0
        /// Told of each attempt that failed, and of the next answer with `nil`.
        var onTrouble: @Sendable (RoostError?) -> Void

        init(
            _ storage: any ObjectStorage, writer: Identifier,
            onTrouble: @escaping @Sendable (RoostError?) -> Void = { _ in }
        ) {
            self.storage = storage
            self.onTrouble = onTrouble
            state = JournalState(writer: writer)
        }

        /// Adds entries in the place of every earlier writer, after the last one that there is.
        ///
        /// `absorb` is called with each entry that came meanwhile, in order.
        ///
        /// - Throws: `.corrupt`; `.unsupportedVersion`; `.wrongKey`; `.io` where the storage does not keep
        ///   conditional puts, or does not list or have what it has taken; `CancellationError`.
        nonisolated(nonsending) mutating func takeOver(
            behind end: JournalEntry?, name: String, time: UInt64,
            absorb: nonisolated(nonsending) (JournalEntry) async throws -> Void = { _ in }
        ) async throws {
            state.beginTakeover(behind: end, name: name, time: time)
            let entry = try await carryOut(absorb)
            try await checkConditions(entry)
            try await checkListing(entry)
            try await checkPlace(entry)
        }

        /// Adds an entry; returns it once it stands.
        ///
        /// - Throws: `.fenced` where another writer has taken over; `CancellationError`.
        @discardableResult
        nonisolated(nonsending) mutating func add(
            _ kind: JournalEntry.Kind, payload: [UInt8] = [], time: UInt64,
            _ change: (inout JournalEntry.Standing) -> Void = { _ in }
        ) async throws -> JournalEntry {
            if !state.isBusy { state.beginAdding(kind, payload: payload, time: time, change) }
            return try await carryOut { _ in }
        }

        /// Writes once more what stands already: a storage that lets that pass keeps nobody apart.
        nonisolated(nonsending) private func checkConditions(_ entry: JournalEntry) async throws {
            var entry = entry
            let bytes = entry.encoded()
            let isRefused = try await retrying {
                try await !storage.putIfAbsent(ObjectName.entry(entry.index), bytes)
            }
            guard isRefused else {
                throw RoostError.withoutConditionalPuts(ObjectName.entry(entry.index))
            }
        }

        /// Some storages list an object only some time after they took it.
        static let listingPatience = Duration.seconds(10)

        /// Looks for what stands already: who restores finds entries by their list.
        nonisolated(nonsending) private func checkListing(_ entry: JournalEntry) async throws {
            let name = ObjectName.entry(entry.index)
            let before = entry.index == 0 ? nil : ObjectName.entry(entry.index - 1)
            let begin = ContinuousClock.now
            var backOff = BackOff()
            while true {
                let isListed = try await retrying {
                    try await storage.list(prefix: ObjectName.journal, after: before)
                        .contains { $0.name == name }
                }
                if isListed { return }
                guard ContinuousClock.now - begin > Self.listingPatience else {
                    try await backOff.wait()
                    continue
                }
                throw RoostError(
                    .io,
                    "the storage took an object and does not list it, so that nobody could restore this copy. "
                        + "Some storages change a prefix that begins with a slash or has two in a row",
                    file: name)
            }
        }

        /// Reads what stands in the entry's place. Some storages let two puts of one name pass that come at the same moment;
        /// what goes on behind an entry that is not there is no journal that could be restored.
        nonisolated(nonsending) private func checkPlace(_ entry: JournalEntry) async throws {
            let name = ObjectName.entry(entry.index)
            let standing: JournalEntry = try await retrying {
                guard let found = try await JournalReader.entry(entry.index, in: storage) else {
                    throw RoostError.refusedAndMissing(name)
                }
                return found
            }
            guard standing.digest == entry.digest else {
                throw RoostError(
                    .io,
                    "the storage took two entries for one place: it does not keep conditional puts "
                        + "(If-None-Match) that come at the same moment apart. The other writer "
                        + "(\(standing.standing.writer)) has the place",
                    file: name)
            }
        }

        nonisolated(nonsending) private mutating func carryOut(
            _ absorb: nonisolated(nonsending) (JournalEntry) async throws -> Void
        ) async throws -> JournalEntry {
            var backOff = BackOff()
            // A storage may refuse every put of an object that it does not have: that is told, and not asked for at once.
            var isMissing = false
            while let request = state.request {
                var reply = JournalState.Reply.unknown
                do {
                    reply = try await perform(request)
                    if case .missing = reply, case .get(let index) = request {
                        isMissing = true
                        onTrouble(RoostError.refusedAndMissing(ObjectName.entry(index)))
                        try await backOff.wait()
                    } else if !isMissing {
                        backOff = BackOff()
                        onTrouble(nil)
                    }
                } catch is CancellationError where Task.isCancelled {
                    throw CancellationError()
                } catch let error as RoostError where error.isOfContent || endsTakeover(error) {
                    throw error
                } catch {
                    onTrouble(asRoostError(error))
                    try await backOff.wait()
                }
                let outcome = try state.receive(reply)
                if isMissing, outcome != nil {
                    isMissing = false
                    onTrouble(nil)
                }
                switch outcome {
                case nil: continue
                case .accepted(let entry): return entry
                case .absorbed(let entry): try await absorb(entry)
                case .overtaken(let other):
                    throw RoostError(
                        .fenced,
                        "another writer (\(other)) has taken over this copy: nothing more is copied "
                            + "from here. Find out which of the two is to go on",
                        file: ObjectName.entry(state.next))
                }
            }
            preconditionFailure("an entry is accepted or refused")
        }

        /// Whether nobody begins to copy there. Who copies already goes on once the storage is again what it was.
        private func endsTakeover(_ error: RoostError) -> Bool {
            state.phase == .takingOver && error.isOfConditionalPuts
        }

        nonisolated(nonsending) private mutating func perform(
            _ request: JournalState.Request
        ) async throws -> JournalState.Reply {
            switch request {
            case .putIfAbsent(let index, let bytes):
                sizeBytesPut += UInt64(bytes.count)
                return try await storage.putIfAbsent(ObjectName.entry(index), bytes)
                    ? .written : .isTaken
            case .get(let index):
                let bytes = try await storage.read(
                    ObjectName.entry(index), maximumSizeBytes: JournalEntry.maximumSizeBytes
                ) { bytes in
                    if !bytes.isEmpty { _ = try JournalEntry(bytes, index: index) }
                    return bytes
                }
                if bytes?.isEmpty == true { try await checkEmpty(index) }
                return bytes.map { .found($0) } ?? .missing
            case .list(let index):
                let names = try await storage.listAll(
                    prefix: ObjectName.journal, after: ObjectName.entry(index))
                let last = names.last { !$0.isEmpty }
                return .listed(last: last.flatMap { ObjectName.index(ofEntry: $0.name) })
            }
        }

        /// That an object has nothing in it, as the list says too: an entry of another writer that an answer lacked must
        /// not be passed over.
        nonisolated(nonsending) private func checkEmpty(_ index: UInt64) async throws {
            let name = ObjectName.entry(index)
            let listed = try await storage.list(
                prefix: ObjectName.journal, after: index == 0 ? nil : ObjectName.entry(index - 1))
            guard let object = listed.first, object.name == name, object.isEmpty else {
                throw RoostError(.io, "the storage gave nothing of an object", file: name)
            }
        }

        nonisolated(nonsending) private func retrying<Result: Sendable>(
            _ body: nonisolated(nonsending) () async throws -> Result
        ) async throws -> Result {
            var backOff = BackOff()
            while true {
                do { return try await body() } catch is CancellationError where Task.isCancelled {
                    throw CancellationError()
                } catch let error as RoostError where error.isOfContent {
                    throw error
                } catch {
                    onTrouble(asRoostError(error))
                    try await backOff.wait()
                }
            }
        }
    }

    /// Waits longer after each failure, up to ten seconds, and not as long as others that failed at the
    /// same time.
    struct BackOff {
        private var delay = Duration.milliseconds(100)

        mutating func wait() async throws {
            try await Task.sleep(for: delay * Double.random(in: 0.5...1))
            delay = min(delay * 2, .seconds(10))
        }
    }

    extension RoostError {
        /// Whether it is about what is stored, so that asking again gives nothing else.
        var isOfContent: Bool { Self.codesOfContent.contains(code) }

        static let codesOfContent: [Code] = [.corrupt, .unsupportedVersion, .wrongKey]
    }

    func asRoostError(_ error: any Error) -> RoostError {
        error as? RoostError ?? RoostError(.io, "the storage cannot be had", cause: error)
    }
#endif
