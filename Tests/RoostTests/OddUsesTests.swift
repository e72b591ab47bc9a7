import Foundation
import Roost
import RoostTestSupport
import Testing

/// Uses that nobody planned for, as a client would come to them.
@Suite(.timeLimit(.minutes(10))) struct OddUsesTests {
    private func filled(_ count: Int) async throws -> (Workspace, WorkspaceDictionary) {
        let workspace = try await Workspace.inMemory()
        let numbers = workspace.dictionary("numbers")
        try await numbers.setAll((0..<count).map { ("\(100_000 + $0)", $0) })
        return (workspace, numbers)
    }

    @Test func removingEachKeyThatAScanGivesLeavesNone() async throws {
        let (workspace, numbers) = try await filled(1_500)
        var count = 0
        for try await (key, value) in numbers.entries(as: Int.self, order: .descending) {
            #expect(key == "\(100_000 + value)")
            try await numbers.removeValue(forKey: key)
            try await numbers.set(-1, forKey: "new/\(key)")
            count += 1
        }
        #expect(count == 1_500)
        #expect(try numbers.count == 1_500)
        #expect(try await numbers.keys(prefix: "1").first(1).isEmpty)
        try await workspace.close()
    }

    @Test func aScanWithinAScanAndTwoOfOneSequenceAreEachOnTheirOwn() async throws {
        let (workspace, numbers) = try await filled(40)
        let all = numbers.entries(as: Int.self)
        var pairs = 0
        for try await (left, _) in all {
            for try await (right, _) in numbers.entries(in: left..., as: Int.self) {
                #expect(left <= right)
                pairs += 1
            }
        }
        #expect(pairs == 40 * 41 / 2)
        var early = all.makeAsyncIterator()
        #expect(try await early.next()?.value == 0)
        try await numbers.removeAll()
        var late = all.makeAsyncIterator()
        #expect(try await late.next() == nil)
        var count = 1
        while try await early.next() != nil { count += 1 }
        #expect(count == 40)
        try await workspace.close()
    }

    @Test func aTaskThatIsCancelledWithinAScanIsToldAndLetsGo() async throws {
        let (workspace, numbers) = try await filled(20_000)
        let task = Task {
            var count = 0
            for try await _ in numbers.keys(prefix: "") {
                count += 1
                if count == 700 { withUnsafeCurrentTask { $0?.cancel() } }
            }
            return count
        }
        do {
            _ = try await task.value
            Issue.record("the scan went on to its end")
        } catch let error as RoostError { #expect(error.code == .cancelled) }
        #expect(workspace.statistics.liveReadViewCount == 0)
        try await workspace.close()
    }

    @Test @MainActor func aScanOnTheMainActorGoesOnThere() async throws {
        let (workspace, numbers) = try await filled(2_000)
        var sum = 0
        for try await (_, value) in numbers.entries(as: Int.self) {
            MainActor.assertIsolated()
            sum += value
        }
        #expect(sum == 2_000 * 1_999 / 2)
        try await workspace.close()
    }

    @Test func prefixesAndRangesAtTheEndsOfWhatKeysCanBe() async throws {
        let workspace = try await Workspace.inMemory()
        let odd = workspace.dictionary("odd")
        let last = "\u{10ffff}"
        let keys = [
            "", "\0", "\0\0", "a", "\u{7f}", "\u{80}", "\u{7ff}", "\u{ffff}", last, last + last,
        ]
        try await odd.setAll(keys.map { ($0, $0) })
        try await workspace.dictionary("od").set("before", forKey: last)
        try await workspace.dictionary("odd!").set("behind", forKey: "")
        for _ in 0..<2 {
            func found(_ sequence: EntrySequence<String>) async throws -> [String] {
                try await sequence.first(.max).map(\.value)
            }
            let text = String.self
            #expect(try await found(odd.entries(prefix: "", as: text)) == keys)
            #expect(
                try await found(odd.entries(prefix: "", as: text, order: .descending))
                    == keys.reversed())
            #expect(try await found(odd.entries(prefix: last, as: text)) == keys.suffix(2))
            #expect(
                try await found(odd.entries(prefix: last, as: text, limit: 1, order: .descending))
                    == [last + last])
            #expect(try await found(odd.entries(prefix: last + "a", as: text)).isEmpty)
            #expect(try await found(odd.entries(in: ""..<"\0", as: text)) == [""])
            #expect(try await found(odd.entries(in: ..."", as: text)) == [""])
            #expect(try await found(odd.entries(in: last..., as: text)) == keys.suffix(2))
            #expect(
                try await found(odd.entries(in: ..<last, as: text, limit: 2, order: .descending))
                    == ["\u{ffff}", "\u{7ff}"])
            #expect(try await found(odd.entries(prefix: "", as: text, limit: -1)).isEmpty)
            try await workspace.compact()
        }
        try await workspace.close()
    }

    @Test func aWatcherBeginsAgainWhereItStoppedWhileScansGoOn() async throws {
        let (workspace, numbers) = try await filled(10)
        var seen: UInt64 = 0
        var values: [Int] = []
        for round in 0..<5 {
            try await numbers.set(round, forKey: "watched")
            try await numbers.set(round + 100, forKey: "watched")
            _ = try await numbers.keys(prefix: "").first(.max)
            let changes = numbers.changes(forKey: "watched", as: Int.self, since: seen)
            for change in try await changes.first(2) {
                guard case .set(_, let value, let version) = change else { continue }
                values.append(value)
                seen = version
            }
        }
        #expect(values == (0..<5).flatMap { [$0, $0 + 100] })
        try await workspace.close()
    }

    @Test func aSubscriptionThatIsDroppedAtOnceTellsNothingMore() async throws {
        let (workspace, numbers) = try await filled(1)
        let told = Told<Int>()
        do {
            let subscription = numbers.subscribe("100000", of: Int.self) { told.add($0) }
            await told.waitFor(1)
            withExtendedLifetime(subscription) {}
        }
        try await numbers.set(7, forKey: "100000")
        try await workspace.synchronize()
        #expect(told.all == [.initial(0)])
        try await workspace.close()
    }

    /// Each opening for writing ended the process: nanoseconds since 1970 have 64 bits until 2262.
    @Test func aManifestOfAnotherCenturyIsOpenedAndReplaced() async throws {
        try await withTemporaryDirectory { path in
            try await Workspace.open(at: path).close()
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 9_999_999_999)],
                ofItemAtPath: "\(path)/MANIFEST")
            let workspace = try await Workspace.open(at: path)
            let numbers = workspace.dictionary("numbers")
            try await numbers.set(1, forKey: "a")
            try await workspace.compact()
            #expect(try numbers["a", as: Int.self] == 1)
            try await workspace.close()
        }
    }
}
