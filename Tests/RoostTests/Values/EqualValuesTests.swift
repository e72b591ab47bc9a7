import Foundation
import Roost
import RoostIO
import RoostTestSupport
import Testing

/// Typed keys and stored properties write nothing where an equal value is stored.
@Suite(.timeLimit(.minutes(10))) struct EqualValuesTests {
    @Test(arguments: WorkspaceKind.allCases)
    func anEqualValueOfATypedKeyCostsNoWrite(kind: WorkspaceKind) async throws {
        try await kind.withWorkspace { workspace in
            let settings = workspace.dictionary("settings")
            func version(_ key: String) throws -> UInt64 {
                try settings.entry(forKey: key, as: Int.self).version
            }
            try await settings.set(0, for: .launches)
            #expect(try version("launches") == 1, "what is the default is not stored yet")
            try await settings.set(0, for: .launches)
            try await settings.set(0, for: .launches, durability: .synced)
            settings.enqueue(0, for: .launches)
            try await settings.update(.launches) { $0 += 0 }
            try await workspace.synchronize()
            #expect(try version("launches") == 1)
            try await settings.update(.launches) { $0 += 1 }
            #expect(try version("launches") == 2)
            try await settings.set(nil, for: .nickname)
            try await settings.set(3, forKey: "other")
            #expect(try version("other") == 3, "what is not there is not removed")
        }
    }

    @Test func aValueThatExpiresIsMadeToStay() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        try await settings.set(4, for: .launches, expiresIn: .seconds(60))
        try await settings.set(4, for: .launches)
        #expect(try settings.remainingTime(forKey: "launches") == nil)
        try await settings.set(5, for: .launches, expiresIn: .seconds(60))
        try await settings.update(.launches) { _ in }
        #expect(try settings.remainingTime(forKey: "launches") == nil)
        try await workspace.close()
    }

    @Test func whatCannotBeReadIsReplaced() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        try await settings.set("no number", forKey: "launches")
        try await settings.set(1, for: .launches)
        #expect(try settings[.launches] == 1)
        try await workspace.close()
    }

    /// An enqueued value is seen before it is in the log. Who sets an equal one, and waits, is told
    /// of durability that must hold.
    @Test func anEqualValueThatIsOnlyEnqueuedIsNotTakenForStored() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: "\(path)/w")
            let settings = workspace.dictionary("settings")
            for number in 1...200 {
                settings.enqueue(number, forKey: "launches")
                if number.isMultiple(of: 2) {
                    try await settings.set(number, for: .launches, durability: .process)
                } else {
                    try await settings.set(
                        number, forKey: "launches", onlyIfChanged: true, durability: .process)
                }
                guard number.isMultiple(of: 10) else { continue }
                // As a kill at this moment would leave it.
                let copy = "\(path)/\(number)"
                try FileManager.default.copyItem(atPath: "\(path)/w", toPath: copy)
                let killed = try Workspace(at: copy)
                #expect(try killed.dictionary("settings")[.launches] == number)
                try await killed.close()
            }
            try await workspace.close()
        }
    }

    /// After three attempts that others were faster than, an update is a transaction.
    @Test func anUpdateThatOthersAreFasterThanWritesNoEqualValueEither() async throws {
        for isExpiring in [false, true] {
            let workspace = try await Workspace.inMemory()
            let settings = workspace.dictionary("settings")
            try await settings.set(0, for: .launches)
            var attempts = 0
            // The body holds a thread of the pool until the other write is made.
            let other = WorkerThread(name: "roost-test")
            try await settings.update(.launches) { value in
                attempts += 1
                guard attempts <= 3 else { return }
                let (number, written) = (attempts, DispatchSemaphore(value: 0))
                Task.detached(executorPreference: other.forTasks) {
                    defer { written.signal() }
                    guard isExpiring else {
                        return try await settings.set(number, forKey: "launches")
                    }
                    try await settings.set(number, for: .launches, expiresIn: .seconds(600))
                }
                written.wait()
                value += 100
            }
            #expect(attempts > 3)
            let entry = try settings.entry(forKey: "launches", as: Int.self)
            #expect(entry.value == 3)
            #expect(entry.version == (isExpiring ? 5 : 4), "what expires is made to stay")
            #expect(try settings.remainingTime(forKey: "launches") == nil)
            try await workspace.close()
        }
    }
}
