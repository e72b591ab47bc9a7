import Foundation
import Roost
import RoostTestSupport
import Testing

@Suite struct BackupTests {
    @Test func aBackupOpensAsTheWorkspaceWasWhenItBegan() async throws {
        try await withTemporaryDirectory { directory in
            let time = SettableTime()
            let configuration = Workspace.Configuration(clock: .settable(time))
            let workspace = try await Workspace.open(
                at: "\(directory)/source", configuration: configuration)
            let numbers = workspace.dictionary("numbers")
            try await numbers.setAll((0..<3_000).map { ("\($0)", $0) })
            try await workspace.compact()
            try await numbers.set(-1, forKey: "7")
            try await numbers.removeValue(forKey: "8")
            let texts = workspace.dictionary("texts", coder: .json)
            try await texts.set(["a": [1.5, 2]], forKey: "codable")
            try await texts.set("soon gone", forKey: "short", expiresIn: .seconds(60))
            try await texts.set(Data(repeating: 7, count: 3 << 20), forKey: "large")

            try await workspace.backup(to: "\(directory)/backups/first")
            try await numbers.removeAll()
            try await workspace.close()
            #expect(try fileNames(in: "\(directory)/backups", prefix: "") == ["first"])

            let copy = try await Workspace.open(
                at: "\(directory)/backups/first", configuration: configuration)
            let copied = copy.dictionary("numbers")
            #expect(try copied.count == 2_999)
            #expect(try copied["7", as: Int.self] == -1)
            #expect(try copied["8", as: Int.self] == nil)
            #expect(try copied["2999", as: Int.self] == 2_999)
            let copiedTexts = copy.dictionary("texts")
            #expect(try copiedTexts["codable", as: [String: [Double]].self] == ["a": [1.5, 2]])
            #expect(try copiedTexts["large", as: Data.self] == Data(repeating: 7, count: 3 << 20))
            #expect(try copiedTexts["short", as: String.self] == "soon gone")
            time.advance(by: .seconds(60))
            #expect(try copiedTexts["short", as: String.self] == nil)
            #expect(try await copy.verify().isSound)
            try await copy.close()
        }
    }

    @Test func aBackupBesideWritersHoldsEveryBatchWholeOrNotAtAll() async throws {
        try await withTemporaryDirectory { directory in
            let workspace = try await Workspace.open(at: "\(directory)/source")
            let values = workspace.dictionary("values")
            try await values.setAll((0..<500).map { ("\($0)", 0) })
            let writer = Task {
                var round = 0
                while !Task.isCancelled {
                    round += 1
                    let number = round
                    try await values.setAll((0..<500).map { ("\($0)", number) })
                    if round % 20 == 0 { try await workspace.compact() }
                    await Task.yield()
                }
                return round
            }
            for number in 0..<3 {
                try await workspace.backup(to: "\(directory)/backup-\(number)")
            }
            writer.cancel()
            // The last call of a cancelled writer says so.
            let result = await writer.result
            if case .failure(let error) = result {
                #expect((error as? RoostError)?.code == .cancelled)
            }
            try await workspace.close()
            for number in 0..<3 {
                let copy = try await Workspace.open(at: "\(directory)/backup-\(number)")
                let found = copy.dictionary("values")
                let rounds = try Set(found.keys.map { try found[$0, as: Int.self] })
                #expect(rounds.count == 1)
                #expect(try found.count == 500)
                try await copy.close()
            }
        }
    }

    @Test func whatIsThereAlreadyIsNeverReplaced() async throws {
        try await withTemporaryDirectory { directory in
            let workspace = try await Workspace.open(at: "\(directory)/source")
            try await workspace.dictionary("d").set(1, forKey: "a")
            try await workspace.backup(to: URL(fileURLWithPath: "\(directory)/backup"))
            for taken in ["backup", "source"] {
                let before = try contents(ofDirectory: "\(directory)/backup")
                let error = await #expect(throws: RoostError.self) {
                    try await workspace.backup(to: "\(directory)/\(taken)")
                }
                #expect(error?.code == .io)
                #expect(try contents(ofDirectory: "\(directory)/backup") == before)
            }
            try await workspace.close()
            let error = await #expect(throws: RoostError.self) {
                try await workspace.backup(to: "\(directory)/late")
            }
            #expect(error?.code == .closed)
            #expect(try fileNames(in: directory, prefix: "") == ["backup", "source"])
        }
    }

    @Test func whatABackupLeftThatDidNotEndIsCleared() async throws {
        try await withTemporaryDirectory { directory in
            let left = try await Workspace.open(at: "\(directory)/backup.incomplete")
            try await left.dictionary("d").set("old", forKey: "stale")
            let workspace = try await Workspace.open(at: "\(directory)/source")
            try await workspace.dictionary("d").set(1, forKey: "a")
            // Somebody is at it.
            let error = await #expect(throws: RoostError.self) {
                try await workspace.backup(to: "\(directory)/backup")
            }
            #expect(error?.code == .locked)
            try await left.close()
            try await workspace.backup(to: "\(directory)/backup")
            let copy = try await Workspace.open(at: "\(directory)/backup")
            #expect(try copy.dictionary("d").keys == ["a"])
            try await copy.close()

            let foreign = "\(directory)/other.incomplete"
            try FileManager.default.createDirectory(
                atPath: foreign, withIntermediateDirectories: true)
            try Data([1]).write(to: URL(fileURLWithPath: "\(foreign)/somebody's"))
            await #expect(throws: RoostError.self) {
                try await workspace.backup(to: "\(directory)/other")
            }
            #expect(try fileNames(in: foreign, prefix: "") == ["somebody's"])
            try await workspace.close()
        }
    }
}
