import Foundation
import Roost
import RoostIO
import RoostShared
import RoostTestSupport
import Synchronization
import Testing

/// Pages of a shared dictionary: those that `WorkspaceDictionary.page` gives of the same entries.
@Suite struct SharedDictionaryPagesTests {
    private let engine = HookedEngine()

    private func connect() async throws -> SharedWorkspace {
        try await .connect(to: .engine(engine), namespace: "test")
    }

    private func anyKey(_ random: inout SeededGenerator) -> String {
        String(
            (0..<Int.random(in: 0...3, using: &random)).map { _ in
                ["a", "b", "é", "\u{0}", "/", "\u{10FFFF}"].randomElement(using: &random)!
            })
    }

    @Test func pagesAreThoseOfADictionaryInFiles() async throws {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        let (workspace, local) = (try await connect(), try await Workspace.inMemory())
        let (pages, localPages) = (workspace.dictionary("pages"), local.dictionary("pages"))
        for other in ["page", "pages2", "pages/"] {
            try await workspace.dictionary(other).set(0, forKey: "a")
        }
        for number in 0..<120 {
            let key = anyKey(&random)
            try await pages.set(number, forKey: key)
            try await localPages.set(number, forKey: key)
        }
        for number in 0..<300 {
            let prefix = anyKey(&random)
            let after = Bool.random(using: &random) ? anyKey(&random) : nil
            let limit = Int.random(in: -1...40, using: &random)
            let order: ScanOrder = Bool.random(using: &random) ? .ascending : .descending
            let comment: Comment =
                "seed \(seed), \(number): \(prefix.debugDescription) after \(after.debugDescription), \(limit), \(order)"
            let page = try await pages.page(
                prefix: prefix, after: after, as: Int.self, limit: limit, order: order)
            let expected = try localPages.page(
                prefix: prefix, after: after, as: Int.self, limit: limit, order: order)
            #expect(page.map { Array($0.key.utf8) } == expected.map { Array($0.key.utf8) }, comment)
            #expect(page.map(\.value) == expected.map(\.value), comment)
        }
        await workspace.close()
        try await local.close()
    }

    @Test(arguments: [ScanOrder.ascending, .descending])
    func pagesOneAfterTheOtherHaveEachEntryOnce(order: ScanOrder) async throws {
        let workspace = try await connect()
        let posts = workspace.dictionary("posts", keys: Int.self)
        try await posts.setAll((-40..<40).map { ($0, "\($0)") })
        var found: [Int] = []
        var last: Int?
        while true {
            let page = try await posts.page(after: last, as: String.self, limit: 7, order: order)
            #expect(page.allSatisfy { $0.value == "\($0.key)" })
            found += page.map(\.key)
            guard let key = page.last?.key else { break }
            // It goes on behind a key that is not there any more.
            try await posts.removeValue(forKey: key)
            last = key
        }
        #expect(found == (order == .ascending ? Array(-40..<40) : (-40..<40).reversed()))
        await workspace.close()
    }

    @Test func aPageIsOfOneRevisionAndFailsWhole() async throws {
        let workspace = try await connect()
        let dictionary = workspace.dictionary("numbers")
        try await dictionary.setAll((100..<160).map { ("\($0)", 0) })
        let other = try await SharedWorkspace.connect(to: .memory(engine.engine), namespace: "test")
        let numbers = other.dictionary("numbers")
        let count = Mutex(0)
        engine.set { hooks in
            hooks.read = { read in
                // Behind the first request everything changes.
                let isSecond = count.withLock { count in
                    count += 1
                    return count == 2
                }
                if isSecond { try await numbers.setAll((100..<160).map { ("\($0)", 1) }) }
                return nil
            }
        }
        let page = try await dictionary.page(as: Int.self, limit: 50)
        #expect(page.map(\.value) == Array(repeating: 0, count: 50))
        #expect(count.withLock { $0 } == 2)
        #expect(try await dictionary.page(as: Int.self, limit: 1).map(\.value) == [1])

        engine.set { hooks in
            hooks.read = { read in
                guard read.revision != nil else { return nil }
                throw RoostError(.compacted, "given up")
            }
        }
        let error = await #expect(throws: RoostError.self) {
            _ = try await dictionary.page(as: Int.self, limit: 50)
        }
        #expect(error?.code == .compacted)
        // None is asked for that is not wanted.
        engine.set { $0.read = { _ in throw RoostError(.unavailable, "nobody answers") } }
        #expect(try await dictionary.page(as: Int.self, limit: 0).isEmpty)
        engine.set { $0.read = { _ in nil } }
        await other.close()
    }
}
