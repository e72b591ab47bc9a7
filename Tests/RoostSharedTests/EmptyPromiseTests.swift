import RoostIO
import RoostShared
import RoostTestSupport
import Synchronization
import Testing

@testable import RoostConformance

/// A promise that an engine keeps by doing nothing says nothing of it.
@Suite struct EmptyPromiseTests {
    /// Why the check of this name finds its promise broken; `nil` where it does not.
    private func failure(of name: String, by engine: HookedEngine) async throws -> String? {
        var suite = ConformanceSuite.shared(seed: testSeed(), connecting: .engine(engine))
        suite.checks.removeAll { $0.name != name }
        let results = try await suite.run()
        #expect(results.count == 1)
        return results.first?.failure
    }

    private static let refusal = RoostError(.notPermitted, "nobody may watch this engine")

    @Test func watchersWhoAreToldNothingAreFound() async throws {
        let engine = HookedEngine()
        engine.set {
            $0.watch = { _, _ in
                let (events, source) = SharedEvents.make()
                source.end(Self.refusal)
                return events
            }
        }
        let found = try await failure(
            of: "many watchers of a key each are told of theirs, and of no other", by: engine)
        #expect(found?.contains("ended untold") == true)
    }

    @Test func aTransactionOfWhichOneChangeIsToldIsFound() async throws {
        let engine = HookedEngine()
        let watchCount = Mutex(0)
        engine.set {
            $0.watch = { range, revision in
                let (events, source) = SharedEvents.make()
                let number = watchCount.withLock { count in
                    count += 1
                    return count
                }
                if number == 1 {
                    let change = SharedChange(
                        key: range.lower + Array("k1".utf8), value: nil, revision: revision + 1)
                    source.tell(.changes([change], through: revision + 1))
                }
                source.end(Self.refusal)
                return events
            }
        }
        let found = try await failure(
            of: "the changes of one transaction have one version", by: engine)
        #expect(found?.contains("the number of changes is 1") == true)
    }

    @Test func transactionsThatAreAllRefusedAreFound() async throws {
        let engine = HookedEngine()
        engine.set {
            $0.commit = { commit in
                let isOfList = commit.operations.contains { operation in
                    guard case .put(let key, _, _) = operation else { return false }
                    return String(decoding: key, as: UTF8.self).contains("-lists/")
                }
                if isOfList { throw RoostError(.unavailable, "nobody may append") }
                return nil
            }
        }
        let found = try await failure(
            of: "lists that are appended to are strictly serializable", by: engine)
        #expect(found?.contains("though nothing was broken") == true)
    }

    /// As one that is slow, and does not make each call in time.
    @Test func anEngineThatRefusesSomeCallsKeepsItsPromise() async throws {
        let engine = HookedEngine()
        let commitCount = Mutex(0)
        engine.set {
            $0.commit = { commit in
                let isOfList = commit.operations.contains { operation in
                    guard case .put(let key, _, _) = operation else { return false }
                    return String(decoding: key, as: UTF8.self).contains("-lists/")
                }
                guard isOfList else { return nil }
                let number = commitCount.withLock { count in
                    count += 1
                    return count
                }
                if number % 6 == 0 { throw RoostError(.unavailable, "not in time") }
                return nil
            }
        }
        let found = try await failure(
            of: "lists that are appended to are strictly serializable", by: engine)
        #expect(found == nil)
    }
}
