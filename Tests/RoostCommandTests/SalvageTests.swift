import Foundation
import Roost
import RoostEngine
import RoostFormat
import RoostIO
import RoostTestSupport
import Testing

/// Damages a workspace in one way each, and looks at what `roost salvage` makes of it.
@Suite struct SalvageTests {
    /// 2,000 records in two snapshots, two of them removed later and one changed, and some in the log.
    func makeWorkspace(at path: String) async throws {
        let configuration = Workspace.Configuration(shardCount: 2, durability: .process)
        let workspace = try await Workspace.open(
            at: path, configuration: configuration, fileSystem: PosixFileSystem()
        ) { $0.snapshotSizeBytes = 16 << 10 }
        let dictionary = workspace.dictionary("d")
        try await workspace.write { batch in
            for number in 0..<2000 {
                batch.set("value \(number)", forKey: key(number), in: dictionary)
            }
            batch.set("gone", forKey: "k", in: workspace.dictionary("cleared"))
        }
        try await workspace.compact()
        try await workspace.dictionary("cleared").removeAll()
        try await dictionary.removeValue(forKey: key(3))
        try await dictionary.set("changed", forKey: key(4))
        for number in 2000..<2010 {
            try await dictionary.set("value \(number)", forKey: key(number))
        }
        try await workspace.close()
    }

    /// The log is read, and then its values: what has gone meanwhile was written as zeros, and the report said that
    /// all was there.
    @Test(arguments: [true, false]) func whatIsLostWhileItIsReadIsInTheReport(isLog: Bool)
        async throws
    {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(
                at: path, configuration: .init(shardCount: 1, durability: .process))
            let dictionary = workspace.dictionary("d")
            func value(_ number: Int) -> String {
                var random = SeededGenerator(seed: UInt64(number))
                return String(
                    (0..<400).map { _ in Character(UnicodeScalar(UInt8(97 + random.below(26)))) })
            }
            for number in 0..<1000 { try await dictionary.set(value(number), forKey: key(number)) }
            if !isLog { try await workspace.compact() }
            try await workspace.close()
            var salvage = try Salvage(path: path, fileSystem: PosixFileSystem())
            let recordKeys = salvage.recordKeys
            #expect(recordKeys.count == 1000 && salvage.report.isComplete)
            let name = try #require(
                try fileNames(in: path, prefix: isLog ? "log-" : "snapshot-").first)
            let half = try readBytes("\(path)/\(name)").count / 8192 * 4096
            try #require(truncate("\(path)/\(name)", off_t(half)) == 0)
            var lostCount = 0
            for (number, recordKey) in recordKeys.enumerated() {
                guard let found = try salvage.value(of: recordKey, after: nil, before: nil) else {
                    lostCount += 1
                    continue
                }
                #expect(found.dropFirst().elementsEqual(value(number).utf8))
            }
            #expect(lostCount > 10 && lostCount < 1000)
            #expect(salvage.report.lostRecordCount == lostCount)
            #expect(salvage.report.losses.count <= lostCount)
            #expect(!salvage.report.isComplete)
            #expect(salvage.report.losses.allSatisfy { $0.file == name && $0.sequences != nil })
        }
    }

    func key(_ number: Int) -> String { String(format: "key %05d", number) }

    func expected() -> [String: String] {
        var values = Dictionary(uniqueKeysWithValues: (0..<2010).map { (key($0), "value \($0)") })
        values[key(3)] = nil
        values[key(4)] = "changed"
        return values
    }

    struct Salvaged {
        var status: Int32
        var output: String
        var values: [String: String]
        var dictionaries: [String]
    }

    /// Salvages a workspace that `damage` was done to; fails where the source changes.
    func salvage(
        _ damage: (String) throws -> Void
    ) async throws -> Salvaged {
        try await withTemporaryDirectory { path in
            try await makeWorkspace(at: "\(path)/w")
            try damage("\(path)/w")
            let before = try state(of: "\(path)/w")
            let outcome = try await Tool.run(
                "salvage", "\(path)/w", "\(path)/t", "--format", "json")
            #expect(try state(of: "\(path)/w") == before, "the source has changed")
            let workspace = try await Workspace.open(at: "\(path)/t")
            var values: [String: String] = [:]
            for key in try workspace.dictionary("d").keys {
                values[key] = try workspace.dictionary("d")[key, as: String.self]
            }
            let report = try await workspace.verify()
            #expect(report.isSound)
            let salvaged = Salvaged(
                status: outcome.status, output: outcome.output + outcome.errors, values: values,
                dictionaries: try workspace.dictionaryNames)
            try await workspace.close()
            return salvaged
        }
    }

    /// Every file's bytes, mode and time of change.
    private func state(of path: String) throws -> [String: [String]] {
        var state: [String: [String]] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: path) + ["."] {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
            let bytes = name == "." ? [] : try readBytes("\(path)/\(name)")
            state[name] = [
                "\(bytes.hashValue)", "\(bytes.count)", "\(attributes[.modificationDate] ?? "")",
                "\(attributes[.posixPermissions] ?? "")",
            ]
        }
        return state
    }

    func flipBits(_ path: String, at offset: Int, count: Int = 1) throws {
        var bytes = try readBytes(path)
        for index in offset..<(offset + count) { bytes[index] ^= 0x55 }
        try writeBytes(bytes, to: path)
    }

    /// All but the lost keys are there, newest; what is reported brackets every lost one.
    func checkLost(_ salvaged: Salvaged, atMost limit: Int) throws {
        #expect(salvaged.status == 3)
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(salvaged.output.utf8)) as? [String: Any])
        let losses = try #require(report["losses"] as? [[String: Any]])
        #expect(report["isComplete"] as? Bool == false)
        #expect(!losses.isEmpty)
        var lostCount = 0
        for (key, value) in expected() where salvaged.values[key] != value {
            lostCount += 1
            let isNamed = losses.contains { loss in
                func bound(_ name: String) -> String? { (loss[name] as? [String: String])?["key"] }
                return bound("after") ?? "" < key && key < bound("before") ?? "~"
            }
            #expect(isNamed, "\(key) is \(salvaged.values[key] ?? "missing") without a word")
        }
        #expect(lostCount <= limit)
        #expect(
            report["recordCount"] as? Int == salvaged.values.count + salvaged.dictionaries.count - 1
        )
    }

    @Test func ofASoundWorkspaceNothingIsLost() async throws {
        let salvaged = try await salvage { _ in }
        #expect(salvaged.status == 0, "\(salvaged.output)")
        #expect(salvaged.output.contains(#""losses":[]"#))
        #expect(salvaged.values == expected())
        #expect(salvaged.dictionaries == ["d"])
    }

    @Test func aDamagedManifestCostsNoValue() async throws {
        let salvaged = try await salvage { try flipBits("\($0)/MANIFEST", at: 30) }
        #expect(salvaged.status == 3)
        #expect(salvaged.output.contains("MANIFEST"))
        #expect(salvaged.values == expected())
    }

    @Test func aMissingManifestCostsNoValue() async throws {
        let salvaged = try await salvage {
            try FileManager.default.removeItem(atPath: "\($0)/MANIFEST")
        }
        #expect(salvaged.status == 3)
        #expect(salvaged.values == expected())
    }

    @Test func aMissingSnapshotCostsItsRecordsAlone() async throws {
        let salvaged = try await salvage { path in
            let name = try #require(try fileNames(in: path, prefix: "snapshot-").first)
            try FileManager.default.removeItem(atPath: "\(path)/\(name)")
        }
        try checkLost(salvaged, atMost: 1200)
        #expect(salvaged.values[key(4)] == "changed")
        #expect(salvaged.values[key(2005)] == "value 2005")
    }

    @Test func aDamagedGroupCostsItsRecordsAlone() async throws {
        let salvaged = try await salvage { path in
            let name = try #require(try fileNames(in: path, prefix: "snapshot-").first)
            try flipBits("\(path)/\(name)", at: try readBytes("\(path)/\(name)").count / 4)
        }
        try checkLost(salvaged, atMost: 16)
        #expect(salvaged.values.count > 1990)
    }

    /// Half of a snapshot, group offsets and index included, but not the footer.
    @Test func aHalfDamagedSnapshotGivesItsOtherHalf() async throws {
        let salvaged = try await salvage { path in
            let name = try #require(try fileNames(in: path, prefix: "snapshot-").first)
            let count = try readBytes("\(path)/\(name)").count
            try flipBits("\(path)/\(name)", at: count / 3, count: count - count / 3 - 200)
        }
        try checkLost(salvaged, atMost: 1000)
    }

    @Test(arguments: [0, 8, 12]) func aDamagedHeaderOfASnapshotCostsNothing(_ offset: Int)
        async throws
    {
        let salvaged = try await salvage { path in
            let name = try #require(try fileNames(in: path, prefix: "snapshot-").first)
            try flipBits("\(path)/\(name)", at: offset)
        }
        #expect(salvaged.status == 0, "\(salvaged.output)")
        #expect(salvaged.values == expected())
    }

    @Test func damageOfASnapshotsBeginningIsSaidToBeThere() async throws {
        try await withTemporaryDirectory { path in
            try await makeWorkspace(at: "\(path)/w")
            let name = try #require(try fileNames(in: "\(path)/w", prefix: "snapshot-").first)
            try flipBits("\(path)/w/\(name)", at: 0)
            let error = await #expect(throws: RoostError.self) {
                _ = try await Workspace.open(at: "\(path)/w")
            }
            #expect(error?.code == .corrupt && error?.offset == 0)
        }
    }

    func grouped(_ count: Int) -> String {
        count < 1000 ? "\(count)" : "\(count / 1000),\(String(format: "%03d", count % 1000))"
    }

    @Test func theReportEndsWithWhatIsLost() async throws {
        let group = try await salvage { path in
            let name = try #require(try fileNames(in: path, prefix: "snapshot-").first)
            let quarter = try readBytes("\(path)/\(name)").count / 4
            // Several groups that follow each other are one stretch.
            try flipBits("\(path)/\(name)", at: quarter, count: 1200)
        }
        let lost = expected().filter { group.values[$0.key] != $0.value }.count
        #expect(lost > 16)
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(group.output.utf8)) as? [String: Any])
        #expect((report["losses"] as? [Any])?.count == 1)
        #expect(report["isLossCounted"] as? Bool == true)
        let counted = try #require(report["lostRecordCount"] as? Int)
        #expect((lost...(lost + 2)).contains(counted))
    }

    @Test func aDamagedFrameInTheMiddleOfTheLogCostsItsBatchAlone() async throws {
        let salvaged = try await salvage { path in
            let name = try #require(try fileNames(in: path, prefix: "log-").last)
            let bytes = try readBytes("\(path)/\(name)")
            let wanted = Array("value 2005".utf8)
            let offset = try #require(
                bytes.indices.first { bytes[$0...].starts(with: wanted) }, "\(bytes.count)")
            try flipBits("\(path)/\(name)", at: offset)
        }
        try checkLost(salvaged, atMost: 1)
        #expect(salvaged.values[key(2005)] == nil)
        #expect(salvaged.values[key(2009)] == "value 2009")
    }

    @Test func aDamagedSegmentHeaderCostsNothingWhereTheFramesCheck() async throws {
        let salvaged = try await salvage { path in
            let name = try #require(try fileNames(in: path, prefix: "log-").last)
            try flipBits("\(path)/\(name)", at: 40)
        }
        #expect(salvaged.values == expected())
    }

    /// What a salvage that was killed has left is not taken for all that could be read.
    @Test func theTargetHasItsNameOnceItIsComplete() async throws {
        try await withTemporaryDirectory { path in
            try await makeWorkspace(at: "\(path)/w")
            for name in ["w", "t.incomplete"] {
                #expect(try await Tool.run("set", "\(path)/\(name)", "e", name, "1").status == 0)
            }
            // A process that is told to write no more than so many bytes to a file fails as on a full disk.
            let roost = try #require(try Tool.process().executableURL?.path)
            let shell = Process()
            shell.executableURL = URL(fileURLWithPath: "/bin/sh")
            shell.arguments = [
                "-c", "ulimit -f 2; trap '' XFSZ; exec \"$1\" salvage \"$2/w\" \"$2/t\"", "sh",
                roost, path,
            ]
            shell.standardError = FileHandle.nullDevice
            try shell.run()
            shell.waitUntilExit()
            #expect(shell.terminationStatus != 0)
            #expect(!FileManager.default.fileExists(atPath: "\(path)/t"))
            let salvaged = try await Tool.run("salvage", "\(path)/w", "\(path)/t")
            #expect(salvaged.status == 0, "\(salvaged.errors)")
            #expect(try await Tool.run("keys", "\(path)/t", "e").lines == ["w"])
            #expect(try await Tool.run("keys", "\(path)/t", "d").lines.count == 2009)
            let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
            #expect(names == ["t", "w"])
            // A file that is not Roost's is not removed with them.
            try FileManager.default.createDirectory(
                atPath: "\(path)/u.incomplete", withIntermediateDirectories: false)
            try writeBytes([1], to: "\(path)/u.incomplete/mine")
            let refused = try await Tool.run("salvage", "\(path)/w", "\(path)/u")
            #expect(refused.status == 5 && refused.errors.contains("mine"), "\(refused.errors)")
        }
    }

    @Test func aTargetThatIsThereIsRefused() async throws {
        try await withTemporaryDirectory { path in
            try await makeWorkspace(at: "\(path)/w")
            let outcome = try await Tool.run("salvage", "\(path)/w", path)
            #expect(outcome.status == 2)
        }
    }

    @Test func aWorkspaceInUseIsRefused() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: "\(path)/w")
            #expect(try await Tool.run("salvage", "\(path)/w", "\(path)/t").status == 4)
            try await workspace.close()
        }
    }
}
