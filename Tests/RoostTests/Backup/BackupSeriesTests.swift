import Foundation
import Roost
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

@Suite struct BackupSeriesTests {
    @Test func aSeriesKeepsWhatItsPolicySays() async throws {
        try await withTemporaryDirectory { directory in
            let series = "\(directory)/backups"
            let time = SettableTime()
            let workspace = try await Workspace.open(
                at: "\(directory)/source", configuration: .init(clock: .settable(time)))
            // Three a day, for four weeks.
            var paths: [String] = []
            for number in 0..<84 {
                try await workspace.dictionary("d").set(number, forKey: "number")
                let report = try await workspace.backup(
                    toSeries: series,
                    keeping: BackupRetention(newestCount: 3, dailyCount: 4, weeklyCount: 3))
                paths.append(report.path)
                time.advance(by: .seconds(8 * 3600))
            }
            let kept = try Workspace.backups(inSeries: series)
            #expect(Set(kept.suffix(3).map(\.path)) == Set(paths.suffix(3)))
            let days = kept.map { Int($0.date.timeIntervalSince1970) / 86_400 }
            #expect(Set(days).count >= 4 && Set(days.suffix(3 + 3)).count >= 4)
            let weeks = Set(days.map { ($0 + 3) / 7 })
            #expect(weeks.count == 3)
            #expect(kept.count <= 3 + 4 + 3)
            let names = try FileManager.default.contentsOfDirectory(atPath: series)
            #expect(names.count == kept.count)
            // The clock says nothing about which is the newer.
            time.advance(by: .seconds(-400 * 86_400))
            let last = try await workspace.backup(toSeries: series, keeping: .newest(1))
            #expect(try Workspace.backups(inSeries: series).map(\.path) == [last.path])
            let copy = try await Workspace.open(at: last.path)
            #expect(try copy.dictionary("d")["number", as: Int.self] == 83)
            try await copy.close()
            try await workspace.close()
        }
    }

    @Test func aSeriesIsNamedByAURLToo() async throws {
        try await withTemporaryDirectory { directory in
            let series = URL(fileURLWithPath: "\(directory)/backups")
            let workspace = try await Workspace.open(at: "\(directory)/source")
            try await workspace.dictionary("d").set(1, forKey: "a")
            let first = try await workspace.backup(toSeries: series)
            let second = try await workspace.backup(toSeries: series, keeping: .newest(1))
            #expect(second.removedPaths.count == 1 && first.path != second.path)
            #expect(try Workspace.backups(inSeries: series).map(\.path) == [second.path])
            let elsewhere = try #require(URL(string: "https://example.org/backups"))
            await #expect(throws: RoostError.self) {
                try await workspace.backup(toSeries: elsewhere)
            }
            #expect(throws: RoostError.self) { try Workspace.backups(inSeries: elsewhere) }
            try await workspace.close()
        }
    }

    @Test func whoAddsBesideAnotherIsToldSo() async throws {
        try await withTemporaryDirectory { directory in
            let workspace = try await Workspace.open(at: "\(directory)/source")
            // Its lock is that of whoever adds a backup.
            let holder = try await Workspace.open(at: "\(directory)/series")
            let error = await #expect(throws: RoostError.self) {
                try await workspace.backup(toSeries: "\(directory)/series")
            }
            #expect(error?.code == .locked)
            #expect(error?.message.contains("added to this series") == true)
            try await holder.close()
            try await workspace.close()
        }
    }

    @Test func aSeriesIsOfOneWorkspace() async throws {
        try await withTemporaryDirectory { directory in
            let series = "\(directory)/backups"
            for name in ["one", "two"] {
                let workspace = try await Workspace.open(at: "\(directory)/\(name)")
                try await workspace.dictionary("d").set(name, forKey: "name")
                if name == "one" {
                    try await workspace.backup(toSeries: series)
                } else {
                    let error = await #expect(throws: RoostError.self) {
                        try await workspace.backup(toSeries: series)
                    }
                    #expect(error?.code == .io)
                }
                try await workspace.close()
            }
            #expect(try Workspace.backups(inSeries: series).count == 1)
            // A restored one is the same workspace, and goes on with it.
            let backup = try await Workspace.open(
                at: try Workspace.backups(inSeries: series)[0].path,
                configuration: .init(access: .readOnly))
            try await backup.backup(to: "\(directory)/restored")
            try await backup.close()
            let restored = try await Workspace.open(at: "\(directory)/restored")
            #expect(try restored.dictionary("d")["name", as: String.self] == "one")
            try await restored.backup(toSeries: series)
            #expect(try Workspace.backups(inSeries: series).count == 2)
            try await restored.close()
        }
    }

    @Test func aBackupThatSomebodyHasOpenedForWritingStays() async throws {
        try await withTemporaryDirectory { directory in
            let series = "\(directory)/backups"
            let workspace = try await Workspace.open(at: "\(directory)/source")
            try await workspace.dictionary("d").set(1, forKey: "a")
            let first = try await workspace.backup(toSeries: series, keeping: .newest(1))
            let opened = try await Workspace.open(at: first.path)
            let second = try await workspace.backup(toSeries: series, keeping: .newest(1))
            #expect(second.removedPaths == [])
            #expect(try await opened.verify().isSound)
            try await opened.close()
            let third = try await workspace.backup(toSeries: series, keeping: .newest(1))
            #expect(third.removedPaths == [first.path, second.path])
            try await workspace.close()
        }
    }

    @Test func filesOfOthersStay() async throws {
        try await withTemporaryDirectory { directory in
            let series = "\(directory)/backups"
            let workspace = try await Workspace.open(at: "\(directory)/source")
            try await workspace.dictionary("d").set(1, forKey: "a")
            let first = try await workspace.backup(toSeries: series, keeping: .newest(1))
            try writeBytes([1], to: "\(first.path)/note")
            try writeBytes([2], to: "\(series)/note")
            try await workspace.backup(toSeries: series, keeping: .newest(1))
            #expect(try readBytes("\(series)/note") == [2])
            #expect(try readBytes("\(first.path).removed/note") == [1])
            #expect(try Workspace.backups(inSeries: series).map(\.number) == [2])
            try await workspace.close()
        }
    }

    @Test func aDamagedGenerationIsListedAndNotBuiltOn() async throws {
        try await withTemporaryDirectory { directory in
            let series = "\(directory)/backups"
            let workspace = try await Workspace.open(at: "\(directory)/source")
            try await workspace.dictionary("d").set(1, forKey: "a")
            let first = try await workspace.backup(toSeries: series)
            try writeBytes([0, 1, 2], to: "\(first.path)/MANIFEST")
            let second = try await workspace.backup(toSeries: series)
            #expect(second.sharedBytes == 0)
            let generations = try Workspace.backups(inSeries: series)
            #expect(generations.map { $0.problem?.code } == [.corrupt, nil])
            try await workspace.close()
        }
    }

    /// The list is read without the lock of who adds to the series, and removes what is not kept.
    @Test func generationsThatAreRemovedWhileTheyAreListedAreNotAmongThem() async throws {
        try await withTemporaryDirectory { directory in
            let series = "\(directory)/backups"
            let workspace = try await Workspace.open(at: "\(directory)/source")
            try await workspace.dictionary("d").set(1, forKey: "a")
            var added: [String] = []
            for _ in 0..<4 { added.append(try await workspace.backup(toSeries: series).path) }
            let whole = try Workspace.backups(inSeries: series)
            let paths = added
            let listCount = Mutex(0)
            let fileSystem = ObservedFileSystem { _ in }.onResource { call in
                guard call == .list else { return }
                let number = listCount.withLock { count in
                    count += 1
                    return count
                }
                // The series is listed, the first generation, and the second, which is open by then; the third is not.
                guard number == 3 else { return }
                for path in paths[1...2] {
                    try FileManager.default.moveItem(atPath: path, toPath: "\(path).removed")
                    try FileManager.default.removeItem(atPath: "\(path).removed")
                }
            }
            let listed = try Workspace.backups(inSeries: series, fileSystem: fileSystem)
            #expect(listed.map(\.path) == [paths[0], paths[3]])
            #expect(listed.allSatisfy { $0.problem == nil })
            // What the last one shares with the second and the third it shares with the first.
            #expect(listed.map(\.newBytes) == [whole[0], whole[3]].map(\.newBytes))
            try await workspace.close()
        }
    }

    @Test func aGenerationThatCannotBeReadTakesNoOthersPlace() async throws {
        try await withTemporaryDirectory { directory in
            let series = "\(directory)/backups"
            let time = SettableTime()
            let workspace = try await Workspace.open(
                at: "\(directory)/source", configuration: .init(clock: .settable(time)))
            let retention = BackupRetention(newestCount: 1, dailyCount: 2)
            try await workspace.dictionary("d").set(1, forKey: "a")
            let sound = try await workspace.backup(toSeries: series, keeping: .all)
            let damaged = try await workspace.backup(toSeries: series, keeping: .all)
            try FileManager.default.removeItem(atPath: "\(damaged.path)/MANIFEST")
            time.advance(by: .seconds(86_400))
            // The day's newest that can be read is kept, and the damaged one as the day's newest.
            let second = try await workspace.backup(toSeries: series, keeping: retention)
            #expect(second.removedPaths == [])
            let listed = try Workspace.backups(inSeries: series)
            #expect(listed.map { $0.problem == nil } == [true, false, true])
            time.advance(by: .seconds(86_400))
            // Both are of a day that no rule keeps any more.
            let third = try await workspace.backup(toSeries: series, keeping: retention)
            #expect(third.removedPaths == [sound.path, damaged.path])
            #expect(
                try Workspace.backups(inSeries: series).map(\.path) == [second.path, third.path])
            try await workspace.close()
        }
    }

    /// What cannot be read for a while only is a backup again afterwards.
    @Test func generationsThatCannotBeReadStayAsLongAsIfTheyCould() async throws {
        try await withTemporaryDirectory { directory in
            let series = "\(directory)/backups"
            let workspace = try await Workspace.open(at: "\(directory)/source")
            try await workspace.dictionary("d").set(1, forKey: "a")
            var paths: [String] = []
            for _ in 0..<3 {
                paths.append(try await workspace.backup(toSeries: series).path)
            }
            for path in paths {
                try FileManager.default.moveItem(
                    atPath: "\(path)/MANIFEST", toPath: "\(path)/elsewhere")
            }
            let next = try await workspace.backup(toSeries: series, keeping: .newest(3))
            #expect(next.removedPaths == [paths[0]])
            try await workspace.close()
        }
    }

    /// Else the series would grow until the disk is full.
    @Test func aGenerationThatCannotBeRemovedKeepsNoOther() async throws {
        try await withTemporaryDirectory { directory in
            let series = "\(directory)/backups"
            let workspace = try await Workspace.open(at: "\(directory)/source")
            try await workspace.dictionary("d").set(1, forKey: "a")
            let first = try await workspace.backup(toSeries: series, keeping: .all)
            // What stands in its place cannot be opened as a directory.
            try FileManager.default.removeItem(atPath: first.path)
            try writeBytes([1], to: first.path)
            let second = try await workspace.backup(toSeries: series, keeping: .all)
            for _ in 0..<2 {
                let error = await #expect(throws: RoostError.self) {
                    try await workspace.backup(toSeries: series, keeping: .newest(1))
                }
                #expect(error?.code == .io)
            }
            let left = try Workspace.backups(inSeries: series)
            #expect(left.map(\.number) == [1, 4])
            #expect(left.map { $0.problem == nil } == [false, true])
            #expect(!FileManager.default.fileExists(atPath: second.path))
            try await workspace.close()
        }
    }

    /// A count may come from a file of settings, after the retention was made.
    @Test(arguments: [0, -1]) func theNewestIsKeptWhateverIsSet(count: Int) async throws {
        try await withTemporaryDirectory { directory in
            let series = "\(directory)/backups"
            let workspace = try await Workspace.open(at: "\(directory)/source")
            try await workspace.dictionary("d").set(1, forKey: "a")
            var retention = BackupRetention.newest(7)
            retention.newestCount = count
            let first = try await workspace.backup(toSeries: series, keeping: retention)
            let second = try await workspace.backup(toSeries: series, keeping: retention)
            #expect(second.removedPaths == [first.path])
            #expect(try Workspace.backups(inSeries: series).map(\.path) == [second.path])
            try await workspace.close()
        }
    }
}
