import Foundation
import Observation
import Roost
import RoostTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) @MainActor struct ObservedValueTests {
    @Test func itShowsWhatIsStoredAndWhatOthersSet() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        try await settings.set(.dark, for: .theme)
        let theme = ObservedValue(.theme, in: settings)
        #expect(theme.value == .dark && theme.failure == nil)
        theme.value = .light
        #expect(try theme.value == .light && settings[.theme] == .light)
        try await Task.detached { try await settings.set(.dark, for: .theme) }.value
        while theme.value != .dark { await Task.yield() }
        try await settings.removeValue(for: .theme)
        while theme.value != .light { await Task.yield() }
        try await workspace.close()
    }

    @Test func observersAreToldOfOtherValuesAndOfNoEqualOnes() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        let count = ObservedValue(.launches, in: settings)
        let told = Mutex(0)
        func observe() {
            withObservationTracking {
                _ = count.value
            } onChange: {
                told.withLock { $0 += 1 }
            }
        }
        observe()
        count.value = 0
        #expect(told.withLock { $0 } == 0, "it is equal")
        count.value = 1
        #expect(told.withLock { $0 } == 1)
        observe()
        try await settings.set(2, for: .launches)
        while count.value != 2 { await Task.yield() }
        #expect(told.withLock { $0 } == 2)
        try await workspace.close()
    }

    /// What was set here is never followed by an older value.
    @Test func itNeverGoesBack() async throws {
        let workspace = try await Workspace.inMemory()
        let count = ObservedValue(.launches, in: workspace.dictionary("settings"))
        for number in 1...500 {
            count.value = number
            if number.isMultiple(of: 7) { await Task.yield() }
            #expect(count.value == number)
        }
        try await workspace.close()
    }

    @Test func whatCannotBeReadStaysAndIsSaid() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        let count = ObservedValue(.launches, in: settings)
        count.value = 3
        try await settings.set("three", forKey: "launches")
        while count.failure == nil { await Task.yield() }
        #expect(count.failure?.code == .typeMismatch && count.value == 3)
        count.value = 4
        #expect(try settings["launches", as: String.self] == "three")
        #expect(count.value == 3)
        try count.replace(with: 5).get()
        #expect(try count.value == 5 && count.failure == nil && settings[.launches] == 5)
        try count.reset().get()
        #expect(try count.value == 0 && !settings.contains(.launches))
        try await workspace.close()
        count.value = 6
        #expect(count.failure?.code == .closed && count.value == 0)
    }

    /// The change that it hears of may be its own, of a value that it set before.
    @Test func whyAValueWasNotSetIsSaidUntilOneIs() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        let name = ObservedValue(Key<Data>("name", default: Data()), in: settings)
        name.value = Data(count: 257 << 20)
        #expect(name.value.isEmpty && name.failure?.code == .valueTooLarge)
        try await settings.set(Data([1]), forKey: "name")
        while name.value != Data([1]) { await Task.yield() }
        #expect(name.failure?.code == .valueTooLarge)
        name.value = Data([2])
        #expect(name.failure == nil)
        let lost = await #expect(throws: RoostError.self) { try await workspace.close() }
        #expect(lost?.code == .valueTooLarge)
    }

    /// A view that shows why would draw itself for ever, where its drawing reads what cannot be read.
    @Test func whatElseFailsTellsNoObserver() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        try await settings.set("three", forKey: "launches")
        let count = ObservedValue(.launches, in: settings)
        #expect(count.failure?.code == .typeMismatch)
        let told = Mutex(0)
        withObservationTracking {
            _ = (count.value, count.failure)
        } onChange: {
            told.withLock { $0 += 1 }
        }
        var failures = workspace.failures.makeAsyncIterator()
        let stored = Stored(.launches, in: settings)
        for _ in 0..<3 {
            #expect(stored.wrappedValue == 0)
            #expect(await failures.next(isolation: #isolation)?.code == .typeMismatch)
        }
        // Nor does what is unreadable in the same way.
        count.value = 4
        try await Task.sleep(for: .milliseconds(200))
        #expect(told.withLock { $0 } == 0)
        try await workspace.close()
    }

    /// A view makes one at each drawing, as what its state begins with, and keeps the first.
    @Test func itReadsNothingUntilItIsAskedFor() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        let key = Key("drawn", default: Drawn())
        try await settings.set(Drawn(count: 1), for: key)
        let before = Drawn.decodeCount.load(ordering: .relaxed)
        let values = (0..<10).map { _ in ObservedValue(key, in: settings) }
        #expect(Drawn.decodeCount.load(ordering: .relaxed) == before)
        try await settings.set(Drawn(count: 2), for: key)
        let told = Mutex(0)
        withObservationTracking {
            #expect(values[0].value.count == 2)
        } onChange: {
            told.withLock { $0 += 1 }
        }
        #expect(told.withLock { $0 } == 0)
        try await settings.set(Drawn(count: 3), for: key)
        while values[0].value.count != 3 { await Task.yield() }
        #expect(told.withLock { $0 } == 1 && values[1].failure == nil)
        #expect(values[2].replace(with: Drawn(count: 4)).isSuccess && values[2].value.count == 4)
        #expect(values[3].value.count == 4)
        try await workspace.close()
    }

    @Test func itLetsGoOfTheWorkspace() async throws {
        var workspace: Workspace? = try await Workspace.inMemory()
        weak let engineHolder = workspace
        var value: ObservedValue<Int>? = ObservedValue(
            .launches, in: try #require(workspace).dictionary("settings"))
        weak let held = value
        value?.value = 1
        try await workspace?.synchronize()
        value = nil
        workspace = nil
        for _ in 0..<10_000 where held != nil || engineHolder != nil { await Task.yield() }
        #expect(held == nil && engineHolder == nil)
    }
}

private struct Drawn: Codable, Equatable, Sendable {
    static let decodeCount = Atomic<Int>(0)
    var count = 0

    init(count: Int = 0) { self.count = count }

    init(from decoder: any Decoder) throws {
        Self.decodeCount.wrappingAdd(1, ordering: .relaxed)
        count = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .count)
    }
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
