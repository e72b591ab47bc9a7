import Foundation
import RoostTestSupport
import Testing

@Suite struct CopyTests {
    @Test func aBackupIsRestoredAndTheSame() async throws {
        try await withTemporaryDirectory { path in
            let (w, b, r) = ("\(path)/w", "\(path)/b", "\(path)/r")
            #expect(try await Tool.run("import", w, input: lines(0..<300)).status == 0)
            #expect(try await Tool.run("backup", w, b).status == 0)
            #expect(try await Tool.run("set", w, "d", "k7", "\"new\"").status == 0)
            #expect(try await Tool.run("remove", w, "d", "k8").status == 0)
            #expect(try await Tool.run("set", w, "e", "x", "1").status == 0)
            #expect(try await Tool.run("restore", b, r).status == 0)
            #expect(try await Tool.run("diff", b, r).status == 0)
            let changes = try await Tool.run("diff", r, w, "--format", "jsonl")
            #expect(changes.status == 1)
            #expect(
                changes.lines == [
                    #"{"change":"changed","dictionary":"d","key":"k7","from":7,"to":"new"}"#,
                    #"{"change":"removed","dictionary":"d","key":"k8","from":8,"to":null}"#,
                    #"{"change":"added","dictionary":"e","key":"x","from":null,"to":1}"#,
                ])
            #expect(
                try await Tool.run("diff", r, w, "--dictionary", "d", "--prefix", "k1").status == 0)
            let mistyped = try await Tool.run("diff", r, w, "--dictionary", "D")
            #expect(mistyped.status == 2 && mistyped.errors.contains("\"D\""), "\(mistyped.errors)")
            // Nothing that is there is touched.
            let refused = try await Tool.run("restore", b, w)
            #expect(refused.status == 5 && refused.errors.contains("something here already"))
            #expect(try await Tool.run("backup", w, b).status == 5)
        }
    }

    @Test func aSeriesIsListedAndRestored() async throws {
        try await withTemporaryDirectory { path in
            let (w, s) = ("\(path)/w", "\(path)/s")
            #expect(try await Tool.run("import", w, input: lines(0..<300)).status == 0)
            for number in 1...3 {
                #expect(try await Tool.run("set", w, "d", "k7", "\(number)00").status == 0)
                let backup = try await Tool.run("backup", w, s, "--series", "--keep", "2")
                #expect(backup.status == 0, "\(backup.errors)")
            }
            let list = try await Tool.run("backups", s, "--verify", "--format", "csv")
            #expect(list.status == 0, "\(list.errors)")
            #expect(list.lines.count == 3)
            #expect(list.lines.dropFirst().allSatisfy { $0.contains(",sound,") })
            #expect(list.lines[1].hasPrefix("2,") && list.lines[2].hasPrefix("3,"))
            #expect(try await Tool.run("restore", s, "\(path)/newest").status == 0)
            #expect(try await Tool.run("diff", w, "\(path)/newest").status == 0)
            #expect(
                try await Tool.run("restore", s, "\(path)/2", "--generation", "2").status == 0)
            #expect(try await Tool.run("get", "\(path)/2", "d", "k7").lines == ["200"])
            #expect(
                try await Tool.run("restore", s, "\(path)/1", "--generation", "1").status == 1)
            let names = try FileManager.default.contentsOfDirectory(atPath: s).sorted()
            try Data(count: 64).write(to: URL(fileURLWithPath: "\(s)/\(names[0])/MANIFEST"))
            let damaged = try await Tool.run("backups", s, "--format", "csv")
            #expect(damaged.status == 3 && damaged.lines[1].contains(",damaged,"))
            // Who restores the newest, and cannot, is told where to look.
            try Data(count: 64).write(to: URL(fileURLWithPath: "\(s)/\(names[1])/MANIFEST"))
            let refused = try await Tool.run("restore", s, "\(path)/damaged")
            #expect(refused.status == 3 && refused.errors.contains("--generation"))
        }
    }

    @Test func whatIsNoSeriesOfBackupsIsNamed() async throws {
        try await withTemporaryDirectory { path in
            let (w, b) = ("\(path)/w", "\(path)/b")
            #expect(try await Tool.run("set", w, "d", "k", "1").status == 0)
            #expect(try await Tool.run("backup", w, b).status == 0)
            for (place, text) in [(w, "no series"), (b, "no series"), (path, "no backups here")] {
                for options in [[], ["--verify"], ["--format", "json"]] {
                    let outcome = try await Tool.run(["backups", place] + options)
                    #expect(outcome.status == 1, "\(place) \(options)")
                    #expect(outcome.errors.contains(text), "\(outcome.errors)")
                }
            }
        }
    }

    @Test func aRestoreToWhatIsThereSaysToRestoreElsewhere() async throws {
        try await withTemporaryDirectory { path in
            let (w, b) = ("\(path)/w", "\(path)/b")
            #expect(try await Tool.run("set", w, "d", "k", "1").status == 0)
            #expect(try await Tool.run("backup", w, b).status == 0)
            let refused = try await Tool.run("restore", b, w)
            #expect(refused.status == 5 && refused.output.isEmpty)
            #expect(refused.errors.contains("restore to a new path"), "\(refused.errors)")
        }
    }

    @Test func aDamagedBackupIsNotRestored() async throws {
        try await withTemporaryDirectory { path in
            #expect(try await Tool.run("import", "\(path)/w", input: lines(0..<300)).status == 0)
            #expect(try await Tool.run("compact", "\(path)/w").status == 0)
            #expect(try await Tool.run("backup", "\(path)/w", "\(path)/b").status == 0)
            try damageASnapshot(in: "\(path)/b")
            #expect(try await Tool.run("restore", "\(path)/b", "\(path)/r").status == 3)
            #expect(!FileManager.default.fileExists(atPath: "\(path)/r"))
        }
    }

    @Test func aCopyOffTheMachineIsAskedForByItsAddress() async throws {
        try await withTemporaryDirectory { path in
            let refused = try await Tool.run("restore", "s3://bucket/prefix", "\(path)/r")
            #expect(refused.status == 2 && refused.errors.contains("--traits Replica"))
            let ofSeries = try await Tool.run(
                "restore", "s3://bucket/prefix", "\(path)/r", "--generation", "3")
            #expect(ofSeries.status == 2 && ofSeries.errors.contains("--generation is for"))
            let mixed = try await Tool.run("restore", "\(path)/b", "\(path)/r", "--sequence", "7")
            #expect(mixed.status == 2)
            #expect(!FileManager.default.fileExists(atPath: "\(path)/r"))
        }
    }

    @Test func recordsAreCopiedUnderAnotherName() async throws {
        try await withTemporaryDirectory { path in
            let (w, c) = ("\(path)/w", "\(path)/c")
            #expect(try await Tool.run("import", w, input: lines(0..<30)).status == 0)
            #expect(try await Tool.run("set", c, "d", "kept", "1").status == 0)
            let copy = try await Tool.run(
                "copy", w, c, "--dictionary", "d", "--prefix", "k2", "--as", "z")
            #expect(copy.status == 0, "\(copy.errors)")
            #expect(try await Tool.run("keys", c, "z").lines.count == 11)
            #expect(try await Tool.run("copy", w, c).status == 0)
            #expect(try await Tool.run("keys", c, "d").lines.count == 31)
            #expect(try await Tool.run("copy", w, c, "--as", "z").status == 2)
        }
    }

    @Test func aDamagedWorkspaceIsRepairedAndKept() async throws {
        try await withTemporaryDirectory { path in
            let w = "\(path)/w"
            #expect(try await Tool.run("import", w, input: lines(0..<300)).status == 0)
            #expect(try await Tool.run("compact", w).status == 0)
            #expect(try await Tool.run("repair", w).output.hasPrefix("sound"))
            try damageASnapshot(in: w)
            let before = try FileManager.default.contentsOfDirectory(atPath: w).sorted()
            let repair = try await Tool.run("repair", w)
            #expect(repair.status == 3, "some is lost: \(repair.errors)")
            #expect(try await Tool.run("verify", w).status == 0)
            let count = try await Tool.run("keys", w, "d").lines.count
            #expect(count > 200 && count < 300)
            let kept = try FileManager.default.contentsOfDirectory(atPath: "\(w).damaged").sorted()
            #expect(kept == before)
            #expect(!FileManager.default.fileExists(atPath: "\(w).repaired"))
            // The next repair would have nowhere to keep the damaged one.
            try Data(count: 64).write(to: URL(fileURLWithPath: "\(w)/MANIFEST"))
            let second = try await Tool.run("repair", w)
            #expect(second.status == 2 && second.errors.contains("\(w).damaged"))
        }
    }

    /// Flips bits in the middle of the largest snapshot's records.
    private func damageASnapshot(in path: String) throws {
        var largest = URL(fileURLWithPath: path)
        var largestSizeBytes = 0
        for name in try FileManager.default.contentsOfDirectory(atPath: path)
        where name.hasPrefix("snapshot-") {
            let file = URL(fileURLWithPath: "\(path)/\(name)")
            let sizeBytes = try Data(contentsOf: file).count
            if sizeBytes > largestSizeBytes { (largest, largestSizeBytes) = (file, sizeBytes) }
        }
        var bytes = try Data(contentsOf: largest)
        for offset in 4096..<4104 where offset < bytes.count / 2 { bytes[offset] ^= 0xff }
        if bytes.count < 8208 { for offset in 80..<100 { bytes[offset] ^= 0xff } }
        try bytes.write(to: largest)
    }
}
