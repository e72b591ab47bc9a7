import Foundation
import Roost
import RoostTestSupport
import Testing

/// The list of what Dflat's workspace dictionary is tested for, row by row: each kind of value is
/// written, read, and read again by another opening; keys; removing all; subscriptions.
@Suite(.timeLimit(.minutes(10))) struct DictionaryRowsTests {
    // MARK: Read, write, read of every kind

    @Test(arguments: WorkspaceKind.allCases)
    func aBoolIsReadBackByTheNextOpening(kind: WorkspaceKind) async throws {
        try await readWriteRead(false, true, kind)
    }

    @Test(arguments: WorkspaceKind.allCases)
    func anIntOfEachWidthIsReadBackByTheNextOpening(kind: WorkspaceKind) async throws {
        try await readWriteRead(Int.min, Int.max, kind)
        try await readWriteRead(Int8.min, Int8.max, kind)
        try await readWriteRead(Int16.min, Int16.max, kind)
        try await readWriteRead(Int32.min, Int32.max, kind)
        try await readWriteRead(Int64.min, Int64.max, kind)
        try await readWriteRead(Int128.min, Int128.max, kind)
    }

    @Test(arguments: WorkspaceKind.allCases)
    func aUIntOfEachWidthIsReadBackByTheNextOpening(kind: WorkspaceKind) async throws {
        try await readWriteRead(UInt.min, UInt.max, kind)
        try await readWriteRead(UInt8.min, UInt8.max, kind)
        try await readWriteRead(UInt16.min, UInt16.max, kind)
        try await readWriteRead(UInt32.min, UInt32.max, kind)
        try await readWriteRead(UInt64.min, UInt64.max, kind)
        try await readWriteRead(UInt128.min, UInt128.max, kind)
    }

    @Test(arguments: WorkspaceKind.allCases)
    func aFloatIsReadBackByTheNextOpening(kind: WorkspaceKind) async throws {
        try await readWriteRead(Float.leastNonzeroMagnitude, -Float.infinity, kind)
    }

    @Test(arguments: WorkspaceKind.allCases)
    func aDoubleIsReadBackByTheNextOpening(kind: WorkspaceKind) async throws {
        try await readWriteRead(0.1, -Double.greatestFiniteMagnitude, kind)
    }

    @Test(arguments: WorkspaceKind.allCases)
    func aStringIsReadBackByTheNextOpening(kind: WorkspaceKind) async throws {
        try await readWriteRead("", "caf\u{e9} \u{1f426}\0 end", kind)
    }

    @Test(arguments: WorkspaceKind.allCases)
    func dataAndBytesAreReadBackByTheNextOpening(kind: WorkspaceKind) async throws {
        try await readWriteRead(Data(), Data([0, 255, 1]), kind)
        try await readWriteRead([UInt8](), [0, 255, 1], kind)
    }

    @Test(arguments: WorkspaceKind.allCases)
    func aCodableValueIsReadBackByTheNextOpening(kind: WorkspaceKind) async throws {
        try await readWriteRead(
            Profile(name: "Ada", age: 36), Profile(name: "", age: -1, tags: ["a", "b"]), kind)
        try await readWriteRead(Theme.dark, .light, kind)
        try await readWriteRead([Profile](), [Profile(name: "Grace", age: 85)], kind)
    }

    @Test(arguments: WorkspaceKind.allCases)
    func aCodableValueOfEachCoderIsReadBackByTheNextOpening(kind: WorkspaceKind) async throws {
        let profile = Profile(name: "Ada", age: 36, tags: ["countess"])
        for coder in [ValueCoder.roost, .json, .propertyList] {
            try await kind.withHome { home in
                let workspace = try await home.open()
                try await workspace.dictionary("d").set(profile, forKey: "k", coder: coder)
                try await workspace.close()
                let again = try await home.open()
                #expect(try again.dictionary("d").value(forKey: "k", as: Profile.self) == profile)
                try await again.close()
            }
        }
    }

    @Test(arguments: WorkspaceKind.allCases)
    func aBinaryCodableValueIsReadBackByTheNextOpening(kind: WorkspaceKind) async throws {
        try await readWriteRead(Point(x: 0, y: 0), Point(x: .min, y: .max), kind)
    }

    /// Absent, then `first`, then `second`, over a compaction, and each again after an opening.
    private func readWriteRead<Value: BinaryCodable & Equatable & Sendable>(
        _ first: Value, _ second: Value, _ kind: WorkspaceKind
    ) async throws {
        try await readWriteRead(first, second, kind) {
            try $0.value(forKey: "key", as: Value.self)
        } set: {
            try await $0.set($1, forKey: "key")
        }
    }

    @_disfavoredOverload
    private func readWriteRead<Value: Codable & Equatable & Sendable>(
        _ first: Value, _ second: Value, _ kind: WorkspaceKind
    ) async throws {
        try await readWriteRead(first, second, kind) {
            try $0.value(forKey: "key", as: Value.self)
        } set: {
            try await $0.set($1, forKey: "key")
        }
    }

    private func readWriteRead<Value: Equatable & Sendable>(
        _ first: Value, _ second: Value, _ kind: WorkspaceKind,
        read: (WorkspaceDictionary) throws -> Value?,
        set: (WorkspaceDictionary, Value) async throws -> Void
    ) async throws {
        try await kind.withHome { home in
            var workspace = try await home.open()
            #expect(try read(workspace.dictionary("values")) == nil)
            for (value, isCompacted) in [(first, false), (second, false), (first, true)] {
                try await set(workspace.dictionary("values"), value)
                #expect(try read(workspace.dictionary("values")) == value)
                if isCompacted { try await workspace.compact() }
                try await workspace.close()
                workspace = try await home.open()
                #expect(try read(workspace.dictionary("values")) == value, "\(Value.self)")
            }
            // Read as what it is not, it stays what it is.
            #expect(throws: RoostError.self) {
                try workspace.dictionary("values").value(forKey: "key", as: Never.self)
            }
            #expect(try read(workspace.dictionary("values")) == first)
            try await workspace.close()
        }
    }

    // MARK: Keys

    @Test(arguments: WorkspaceKind.allCases)
    func theKeysAreThoseThatWereSetAndNotRemoved(kind: WorkspaceKind) async throws {
        try await kind.withHome { home in
            var workspace = try await home.open()
            let names = (0..<100).map { "key\($0)" }
            for name in names { try await workspace.dictionary("d").set(name, forKey: name) }
            try await workspace.dictionary("other").set(1, forKey: "elsewhere")
            #expect(try Set(workspace.dictionary("d").keys) == Set(names))
            for name in names.prefix(50) {
                try await workspace.dictionary("d").removeValue(forKey: name)
            }
            for _ in 0..<2 {
                #expect(try Set(workspace.dictionary("d").keys) == Set(names.dropFirst(50)))
                #expect(try workspace.dictionary("d").count == 50)
                try await workspace.close()
                workspace = try await home.open()
            }
            try await workspace.close()
        }
    }

    // MARK: Removing all

    @Test(arguments: WorkspaceKind.allCases)
    func removeAllBeforePersistenceLeavesNothing(kind: WorkspaceKind) async throws {
        try await kind.withHome { home in
            let workspace = try await home.open()
            workspace.dictionary("d").enqueue(1, forKey: "a")
            workspace.dictionary("d").enqueue("b", forKey: "b")
            try await workspace.dictionary("d").removeAll()
            try await expectNothing(in: workspace, home)
        }
    }

    @Test(arguments: WorkspaceKind.allCases)
    func removeAllAfterPersistenceLeavesNothing(kind: WorkspaceKind) async throws {
        try await kind.withHome { home in
            var workspace = try await home.open()
            try await workspace.dictionary("d").set(1, forKey: "a")
            try await workspace.synchronize()
            try await workspace.dictionary("d").set("b", forKey: "b")
            try await workspace.compact()
            try await workspace.close()
            workspace = try await home.open()
            try await workspace.dictionary("d").removeAll()
            try await expectNothing(in: workspace, home)
        }
    }

    private func expectNothing(in workspace: Workspace, _ home: WorkspaceHome) async throws {
        var workspace = workspace
        for _ in 0..<2 {
            #expect(try workspace.dictionary("d").keys.isEmpty)
            #expect(try workspace.dictionary("d").value(forKey: "a", as: Int.self) == nil)
            #expect(try workspace.dictionary("d").value(forKey: "b", as: String.self) == nil)
            try await workspace.close()
            workspace = try await home.open()
        }
        try await workspace.close()
    }

    // MARK: Subscriptions

    @Test(arguments: WorkspaceKind.allCases)
    func aSubscriptionGivesInitialUpdatedAndDeletedInOrder(kind: WorkspaceKind) async throws {
        try await kind.withHome { home in
            var workspace = try await home.open()
            try await workspace.dictionary("d").set("kept", forKey: "name")
            try await workspace.close()
            workspace = try await home.open()
            let dictionary = workspace.dictionary("d")
            let (text, point, absent) = (Told<String>(), Told<Point>(), Told<Profile>())
            let subscriptions = [
                dictionary.subscribe("name", of: String.self) { text.add($0) },
                dictionary.subscribe("point", of: Point.self) { point.add($0) },
                dictionary.subscribe("profile", of: Profile.self) { absent.add($0) },
            ]
            try await dictionary.set("new", forKey: "name")
            dictionary.enqueue("newer", forKey: "name")
            try await workspace.write { batch in
                batch.set(Point(x: 1, y: 2), forKey: "point", in: dictionary)
                batch.removeValue(forKey: "name", in: dictionary)
            }
            try await dictionary.removeAll()
            await text.waitFor(4)
            await point.waitFor(3)
            await absent.waitFor(1)
            #expect(
                text.all == [.initial("kept"), .updated("new"), .updated("newer"), .deleted])
            #expect(point.all == [.initial(nil), .updated(Point(x: 1, y: 2)), .deleted])
            #expect(absent.all == [.initial(nil)])
            for subscription in subscriptions { subscription.cancel() }
            try await dictionary.set("unheard", forKey: "name")
            #expect(text.all.count == 4)
            try await workspace.close()
        }
    }
}
