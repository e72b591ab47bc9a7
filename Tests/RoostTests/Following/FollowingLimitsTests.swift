import Foundation
import Roost
import RoostIO
import RoostTestSupport
import Testing

/// What a reader beside a writer may not show, and what it says where it cannot go on.
@Suite struct FollowingLimitsTests {
    private let readOnly = Workspace.Configuration(access: .readOnly)

    @Test func whatWaitsForTheDiskIsSeenOnceItIsThereAndNothingBehindItBefore() async throws {
        try await withTemporaryDirectory { path in
            let gate = Gate()
            let fileSystem = ObservedFileSystem { call in
                if case .syncData(let name) = call, name.hasPrefix("log-") { gate.pass() }
            }
            let writer = try await Workspace.open(
                at: path, configuration: .init(durability: .process), fileSystem: fileSystem)
            let written = writer.dictionary("values")
            try await written.set(1, forKey: "before")
            let reader = try await Workspace.open(at: path, configuration: readOnly)
            let read = reader.dictionary("values")
            gate.close()
            let waiting = Task { try await written.set(2, forKey: "synced", durability: .synced) }
            try await eventually { writer.statistics.lastSequence == 2 }
            try await written.set(3, forKey: "behind")
            #expect(try written["behind", as: Int.self] == 3)
            #expect(try await reader.catchUp() == 1)
            #expect(try read["before", as: Int.self] == 1)
            #expect(try read["synced", as: Int.self] == nil)
            #expect(try read["behind", as: Int.self] == nil)
            gate.open()
            try await waiting.value
            try await eventually { try read["behind", as: Int.self] == 3 }
            #expect(try read["synced", as: Int.self] == 2)
            try await reader.close()
            try await writer.close()
        }
    }

    @Test func besideAWriterThatIsOnlyOpeningALaterReaderSeesNoLess() async throws {
        try await withTemporaryDirectory { path in
            let gate = Gate()
            let fileSystem = ObservedFileSystem { call in
                if case .syncData(let name) = call, name.hasPrefix("log-") { gate.pass() }
            }
            let writer = try await Workspace.open(
                at: "\(path)/live", configuration: .init(durability: .process),
                fileSystem: fileSystem)
            let written = writer.dictionary("values")
            gate.close()
            let waiting = Task { try await written.set(1, forKey: "synced", durability: .synced) }
            try await eventually { writer.statistics.lastSequence == 1 }
            try await written.set(2, forKey: "behind")
            // As the death of the writer would leave it.
            try copyDirectory("\(path)/live", to: "\(path)/left")
            gate.open()
            try await waiting.value
            try await writer.close()
            let first = try await Workspace.open(at: "\(path)/left", configuration: readOnly)
            #expect(try first.dictionary("values")["behind", as: Int.self] == 2)
            try await first.close()
            // The next writer, before it has read the log.
            let directory = try PosixFileSystem().openDirectory(
                at: "\(path)/left", create: false)
            let page = try #require(try SignalPage.forWriter("SIGNALS", in: directory))
            try page.holdWriterLock()
            let second = try await Workspace.open(at: "\(path)/left", configuration: readOnly)
            #expect(second.following?.sequence == 2)
            #expect(try second.dictionary("values")["behind", as: Int.self] == 2)
            #expect(try second.dictionary("values")["synced", as: Int.self] == 1)
            try await second.close()
        }
    }

    @Test func aReaderThatWasStoppedGoesOnWithTheNewestStateAndSaysWhatItMissed() async throws {
        try await withTemporaryDirectory { path in
            let writer = try await Workspace.open(at: path)
            let written = writer.dictionary("values")
            try await written.set(0, forKey: "a")
            let gate = Gate()
            let fileSystem = ObservedFileSystem { _ in }.onRead { name in
                if name.hasPrefix("log-") { gate.pass() }
            }
            let reader = try await Workspace.open(
                at: path, configuration: readOnly, fileSystem: fileSystem)
            let read = reader.dictionary("values")
            try await reader.catchUp()
            let changes = read.changes(as: Int.self)
            let updates = read.updates(of: "a", as: Int.self)
            gate.close()
            for number in 1...30 {
                try await written.set(number, forKey: "a")
                try await writer.write { batch in
                    for key in 0..<20 { batch.set(number, forKey: "key-\(key)", in: written) }
                }
                // The segments that the reader has not opened are removed.
                if number % 10 == 0 { try await writer.compact() }
            }
            gate.open()
            try await reader.catchUp()
            #expect(try read["a", as: Int.self] == 30)
            #expect(try read.count == 21)
            var missedCount = 0
            for await change in changes {
                if case .missed(let count) = change { missedCount += count }
                if missedCount > 0 { break }
            }
            #expect(missedCount > 0)
            for try await value in updates where value == 30 { break }
            try await written.set(31, forKey: "a")
            try await eventually { try read["a", as: Int.self] == 31 }
            try await reader.close()
            try await writer.close()
        }
    }

    @Test func whereMemoryIsNotSharedAReaderBesideAWriterIsRefusedByName() async throws {
        try await withTemporaryDirectory { path in
            let share = ObservedFileSystem { _ in }.claiming(.unknown("NFS"))
            let writer = try await Workspace.open(
                at: path, configuration: .init(), fileSystem: share)
            await #expect {
                _ = try await Workspace.open(at: path, configuration: readOnly, fileSystem: share)
            } throws: { error in
                guard let error = error as? RoostError else { return false }
                return error.code == .locked && error.message.contains("NFS")
            }
            try await writer.dictionary("values").set(1, forKey: "a")
            try await writer.close()
            let first = try await Workspace.open(
                at: path, configuration: readOnly, fileSystem: share)
            let second = try await Workspace.open(
                at: path, configuration: readOnly, fileSystem: share)
            #expect(try second.dictionary("values")["a", as: Int.self] == 1)
            #expect(second.following == nil)
            await #expect {
                _ = try await Workspace.open(at: path, configuration: .init(), fileSystem: share)
            } throws: { ($0 as? RoostError)?.code == .locked }
            try await first.close()
            try await second.close()
        }
    }

    @Test func aReaderWhoseWorkspaceIsPutBackThrowsRatherThanGoBack() async throws {
        try await withTemporaryDirectory { path in
            let live = "\(path)/live"
            var writer = try await Workspace.open(at: live)
            try await writer.dictionary("values").set(1, forKey: "a")
            try await writer.close()
            try copyDirectory(live, to: "\(path)/earlier")
            writer = try await Workspace.open(at: live)
            try await writer.dictionary("values").set(2, forKey: "a")
            try await writer.close()
            let reader = try await Workspace.open(at: live, configuration: readOnly)
            let read = reader.dictionary("values")
            #expect(try read["a", as: Int.self] == 2)
            for name in try fileNames(in: live, prefix: "") {
                try FileManager.default.removeItem(atPath: "\(live)/\(name)")
            }
            for name in try fileNames(in: "\(path)/earlier", prefix: "") {
                try FileManager.default.copyItem(
                    atPath: "\(path)/earlier/\(name)", toPath: "\(live)/\(name)")
            }
            writer = try await Workspace.open(at: live)
            try await writer.dictionary("values").set(3, forKey: "b")
            var failure: RoostError?
            do {
                while true { try await reader.catchUp() }
            } catch let error as RoostError { failure = error }
            // `.io` where it looked while there was no manifest.
            let code = try #require(failure?.code)
            #expect(code == .corrupt || code == .io)
            #expect { _ = try read["a", as: Int.self] } throws: {
                ($0 as? RoostError)?.code == code
            }
            try await reader.close()
            try await writer.close()
        }
    }

    @Test func aWriterThatIsKilledAndReplacedIsFollowed() async throws {
        try await withTemporaryDirectory { path in
            try await Workspace.open(at: path).close()
            let reader = try await Workspace.open(at: path, configuration: readOnly)
            let read = reader.dictionary("pairs")
            var first = 1
            var newest = 0
            for life in 0..<6 {
                let child = try CrashWriter(
                    path, first: first, mode: life.isMultiple(of: 2) ? "write" : "compact")
                child.read(lineCount: 200)
                // Where the processor is busy, the task that writes the pairs may come late.
                while !child.lines.contains(where: { $0.hasPrefix("pairs") }) {
                    guard child.read(lineCount: child.lines.count + 1) else { break }
                }
                let numbers = try reader.read { view in
                    try (0..<8).map {
                        try view.value(forKey: "pair-\($0)", as: Int.self, in: read) ?? 0
                    }
                }
                #expect(Set(numbers).count == 1, "a batch by half: \(numbers)")
                #expect(numbers[0] >= newest)
                newest = numbers[0]
                child.kill()
                try await reader.catchUp()
                // What it was told is written is seen.
                let told = child.lines.last { $0.hasPrefix("pairs") }?.split(separator: " ").last
                let number = try read["pair-0", as: Int.self] ?? 0
                #expect(number >= told.flatMap { Int($0) } ?? 0)
                #expect(number >= newest)
                newest = number
                first += 10_000
            }
            #expect(newest > 0)
            try await reader.close()
        }
    }
}
