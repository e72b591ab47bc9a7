import Roost
import RoostIO
import RoostShared
import RoostTestSupport
import Synchronization
import Testing

/// What becomes of a commit whose mark or answer is not what was expected.
@Suite struct CommitTests {
    private func connect(
        _ engine: HookedEngine, _ deadline: Duration = .seconds(60)
    ) async throws -> SharedWorkspace {
        try await .connect(
            to: .engine(engine), namespace: "test", configuration: .init(callDeadline: deadline))
    }

    private func marks(in engine: HookedEngine) async throws -> [SharedRecord] {
        let range = SharedKeyRange(lower: Array("test/%marks/".utf8), upper: Array("test/%n".utf8))
        return try await engine.read(
            SharedRead(range, limit: 100), before: .now + .seconds(10)
        ).records
    }

    /// Whoever removes the records of marks makes each call of a client meet one that is not what it was.
    @Test func noWriteIsLostWhereMarksWereRemoved() async throws {
        let engine = HookedEngine()
        let workspace = try await connect(engine)
        let values = workspace.dictionary("values")
        for number in 0..<20 {
            let range = SharedKeyRange(
                lower: Array("test/%marks/".utf8), upper: Array("test/%n".utf8))
            _ = try await engine.commit(
                SharedCommit(operations: [.removeRange(range)]), before: .now + .seconds(10))
            switch number % 4 {
            case 0: try await values.set(number, forKey: "n")
            case 1: try await values.setAll(["n": number])
            case 2:
                let entry = try await values.loadEntry("n", as: Int.self)
                try await values.replace(entry, with: number)
            default:
                try await workspace.transaction { try $0.set(number, forKey: "n", in: values) }
            }
            #expect(try await values.load("n", as: Int.self) == number)
            if number % 5 == 4 {
                try await values.removeAll()
                #expect(try await values.contains("n") == false)
            }
        }
    }

    /// etcd makes the commit that uses its space up, and says that there is none.
    @Test func aCommitThatWasMadeWithTheLastSpaceWasMade() async throws {
        let engine = HookedEngine()
        let workspace = try await connect(engine)
        let values = workspace.dictionary("values")
        engine.set {
            $0.commit = { [memory = engine.engine] commit in
                _ = try await memory.commit(commit, before: .now + .seconds(10))
                throw RoostError(.outOfSpace, "no space")
            }
        }
        for number in 0..<5 {
            try await values.set(number, forKey: "n")
            #expect(try await values.load("n", as: Int.self) == number)
        }
        engine.set { $0.commit = { _ in throw RoostError(.outOfSpace, "no space") } }
        let refused = await #expect(throws: RoostError.self) {
            try await values.set(9, forKey: "n")
        }
        #expect(refused?.code == .outOfSpace)
        engine.set { $0.commit = { _ in nil } }
        try await values.set(10, forKey: "n")
        #expect(try await values.load("n", as: Int.self) == 10)
        // One caller takes one mark, again and again.
        #expect(try await marks(in: engine).count == 1)
    }

    /// What asking for an outcome fails with says nothing of the outcome.
    @Test(arguments: [RoostError.Code.outOfSpace, .closed, .notPermitted, .unavailable])
    func whatCannotBeFoundOutIsUnknown(code: RoostError.Code) async throws {
        var cause: RoostError.Code?
        // Where a machine stands still until the deadline, nothing is asked: then the next round counts.
        for _ in 0..<3 where cause != code {
            let engine = HookedEngine()
            // What is asked again is asked until the deadline; on a busy machine the first answer takes a while too.
            let workspace = try await connect(engine, .seconds(8))
            let isFirst = Mutex(true)
            engine.set {
                $0.commit = { commit in
                    let wasFirst = isFirst.withLock { first in
                        defer { first = false }
                        return first
                    }
                    throw RoostError(wasFirst ? .unknownOutcome : code, "a fault")
                }
            }
            let error = await #expect(throws: RoostError.self) {
                try await workspace.dictionary("values").set(1, forKey: "n")
            }
            cause =
                error?.code == .unknownOutcome ? (error?.cause as? RoostError)?.code : nil
        }
        #expect(cause == code)
    }

    /// Where the record of the mark says what became of the commit, nothing has to be written to know it.
    @Test func aMadeCommitIsFoundWhereNothingCanBeWritten() async throws {
        let engine = HookedEngine()
        let workspace = try await connect(engine)
        let isFirst = Mutex(true)
        engine.set {
            $0.commit = { [memory = engine.engine] commit in
                let wasFirst = isFirst.withLock { first in
                    defer { first = false }
                    return first
                }
                guard wasFirst else { throw RoostError(.outOfSpace, "no space") }
                _ = try await memory.commit(commit, before: .now + .seconds(10))
                throw RoostError(.unknownOutcome, "the answer was lost")
            }
        }
        let values = workspace.dictionary("values")
        try await values.set(1, forKey: "n")
        #expect(try await values.load("n", as: Int.self) == 1)
    }

    /// Where the record of the mark is gone, nothing tells what became of the commit, however long it is asked.
    @Test func aLostAnswerWhoseMarkWasRemovedIsUnknownAtOnce() async throws {
        let engine = HookedEngine()
        let values = try await connect(engine).dictionary("values")
        try await values.set(1, forKey: "n")
        let isFirst = Mutex(true)
        engine.set {
            $0.commit = { [memory = engine.engine] _ in
                let wasFirst = isFirst.withLock { first in
                    defer { first = false }
                    return first
                }
                guard wasFirst else { return nil }
                let range = SharedKeyRange(
                    lower: Array("test/%marks/".utf8), upper: Array("test/%n".utf8))
                _ = try await memory.commit(
                    SharedCommit(operations: [.removeRange(range)]), before: .now + .seconds(10))
                throw RoostError(.unknownOutcome, "the answer was lost")
            }
        }
        let begin = ContinuousClock.now
        let error = await #expect(throws: RoostError.self) { try await values.set(2, forKey: "n") }
        #expect(error?.code == .unknownOutcome)
        #expect(.now - begin < .seconds(30))
    }

    /// Who cancels a call does not wait until its deadline for an engine that has the write and says nothing.
    @Test func aCancelledWriteEndsSoonWhereNobodyAnswers() async throws {
        let engine = HookedEngine()
        let values = try await connect(engine, .seconds(110)).dictionary("values")
        try await values.set(1, forKey: "n")
        let (sent, isSent) = AsyncStream<Void>.makeStream()
        engine.set {
            $0.commit = { _ in
                isSent.yield()
                do { try await Task.sleep(for: .seconds(100)) } catch {}
                throw RoostError(.unknownOutcome, "the answer was lost")
            }
            $0.delay = { _, _ in try await Task.sleep(for: .seconds(100)) }
        }
        let writing = Task { try await values.set(2, forKey: "n") }
        for await _ in sent { break }
        let begin = ContinuousClock.now
        writing.cancel()
        let error = await #expect(throws: RoostError.self) { try await writing.value }
        #expect(error?.code == .unknownOutcome)
        #expect(.now - begin < .seconds(50))
    }

    /// Where the engine answers, a cancelled call still says what became of its write.
    @Test func aCancelledWriteIsFoundOut() async throws {
        let engine = HookedEngine()
        let values = try await connect(engine).dictionary("values")
        let isFirst = Mutex(true)
        engine.set {
            $0.commit = { [memory = engine.engine] commit in
                let wasFirst = isFirst.withLock { first in
                    defer { first = false }
                    return first
                }
                guard wasFirst else { return nil }
                _ = try await memory.commit(commit, before: .now + .seconds(10))
                withUnsafeCurrentTask { $0?.cancel() }
                throw RoostError(.unknownOutcome, "the answer was lost")
            }
        }
        try await Task { try await values.set(1, forKey: "n") }.value
        #expect(try await values.load("n", as: Int.self) == 1)
    }

    /// Of several records of one key the last one counts, also where what is written with the first leaves it no room.
    @Test func aRecordThatComesAgainAndIsLargerHasACommitOfItsOwn() async throws {
        let limits = SharedLimits(operationCount: 128, commitSizeBytes: 4096, keySizeBytes: 1024)
        let workspace = try await connect(HookedEngine(MemoryEngine(limits: limits)))
        let values = workspace.dictionary("values")
        func record(_ key: String, _ sizeBytes: Int) async throws -> StoredRecord {
            try await values.set([UInt8](repeating: 1, count: sizeBytes), forKey: "made")
            let stored = try await values.storedValue(forKey: "made")
            return StoredRecord(dictionary: "values", key: key, value: try #require(stored))
        }
        let records = [
            try await record("a", 10), try await record("b", 2500), try await record("a", 2500),
            try await record("b", 20),
        ]
        try await workspace.writeStored(records)
        #expect(try await values.load("a", as: [UInt8].self)?.count == 2500)
        #expect(try await values.load("b", as: [UInt8].self)?.count == 20)
    }
}
