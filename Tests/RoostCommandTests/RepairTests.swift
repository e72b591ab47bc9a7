import Foundation
import Roost
import RoostIO
import RoostTestSupport
import Testing

@Suite struct RepairTests {
    private func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    private func directoryNumber(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.systemFileNumber] as? Int)
    }

    /// What a program wrote between the salvage and the renaming was moved away with the damaged workspace.
    @Test func nobodyWritesToTheDamagedOneBeforeTheNewOneHasItsName() async throws {
        var lockedCount = 0
        // A tool that is done before it was looked at says nothing: then the next round counts.
        for _ in 0..<3 where lockedCount == 0 { lockedCount = try await repairBesideOpenings() }
        #expect(lockedCount > 0)
    }

    /// Stops a tool where it is; `false` where it has ended.
    private func stop(_ process: Process) -> Bool {
        kill(process.processIdentifier, SIGSTOP)
        // The signal only asks for it.
        var found = siginfo_t()
        let waited = waitid(
            P_PID, id_t(process.processIdentifier), &found, WSTOPPED | WEXITED | WNOWAIT)
        return waited == 0 && Int(found.si_code) == Int(CLD_STOPPED)
    }

    /// How often the workspace could not be opened while it was repaired.
    private func repairBesideOpenings() async throws -> Int {
        try await withTemporaryDirectory { path -> Int in
            let w = "\(path)/w"
            #expect(try await Tool.run("import", w, input: lines(0..<20_000)).status == 0)
            #expect(try await Tool.run("compact", w).status == 0)
            try damageFirstSnapshot(of: w)
            // It opens for writing, but for the repair.
            try await Workspace.open(at: w).close()
            let damaged = try directoryNumber(w)

            let process = try Tool.process("repair", w)
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            let end = ContinuousClock.now + .seconds(120)
            while !isThere("\(w).repaired"), process.isRunning, ContinuousClock.now < end {
                usleep(100)
            }
            var lockedCount = 0
            var opened: Int?
            func open() async throws {
                do {
                    let workspace = try await Workspace.open(at: w)
                    opened = try directoryNumber(w)
                    try await workspace.close()
                } catch let error as RoostError where error.code == .locked { lockedCount += 1 }
            }
            // It checks the new one from here on, and on a busy machine would be done before it was looked at.
            if stop(process) {
                defer { kill(process.processIdentifier, SIGCONT) }
                try await open()
            }
            while opened == nil, process.isRunning, ContinuousClock.now < end { try await open() }
            process.waitUntilExit()
            #expect(opened != damaged, "the damaged one was opened")
            #expect(process.terminationStatus == 3, "some is lost")
            #expect(try directoryNumber("\(w).damaged") == damaged)
            #expect(isThere("\(w).damaged") && !isThere("\(w).repaired"))
            #expect(try await Tool.run("verify", w).status == 0)
            #expect(try await Tool.run("set", w, "d", "k", "1").status == 0)
            return lockedCount
        }
    }

    /// An empty workspace in its place would be taken for a new one.
    @Test func oneOfWhichNothingCanBeReadStaysAsItIs() async throws {
        try await withTemporaryDirectory { path in
            let w = "\(path)/w"
            #expect(try await Tool.run("import", w, input: lines(0..<2000)).status == 0)
            #expect(try await Tool.run("compact", w).status == 0)
            let files = try FileManager.default.contentsOfDirectory(atPath: w)
            for file in files where !file.hasPrefix("SIGNALS") {
                try Data("damaged".utf8).write(to: URL(fileURLWithPath: "\(w)/\(file)"))
            }
            let repaired = try await Tool.run("repair", w)
            #expect(repaired.status == 3)
            #expect(repaired.errors.contains("nothing of it can be read"), "\(repaired.errors)")
            #expect(repaired.output.contains("MANIFEST"), "\(repaired.output)")
            let left = try FileManager.default.contentsOfDirectory(atPath: w)
            #expect(left.sorted() == files.sorted())
            #expect(!isThere("\(w).damaged") && !isThere("\(w).repaired"))
        }
    }

    /// It opened for nobody, and was called no workspace by what only reads.
    @Test func oneWithoutAManifestIsDamagedAndRepaired() async throws {
        try await withTemporaryDirectory { path in
            let w = "\(path)/w"
            #expect(try await Tool.run("import", w, input: lines(0..<2000)).status == 0)
            #expect(try await Tool.run("compact", w).status == 0)
            try FileManager.default.removeItem(atPath: "\(w)/MANIFEST")
            let verified = try await Tool.run("verify", w)
            #expect(verified.status == 3, "\(verified.errors)")
            #expect(verified.errors.contains("no manifest"), "\(verified.errors)")
            #expect(try await Tool.run("repair", w).status == 3)
            #expect(try await Tool.run("verify", w).status == 0)
            #expect(try await Tool.run("keys", w, "d").output.split(separator: "\n").count == 2000)
        }
    }

    /// Renamed, the link would lead to the damaged workspace, which stayed where programs open it by its own name.
    @Test func aLinkStaysAndWhatItLeadsToIsRepaired() async throws {
        try await withTemporaryDirectory { path in
            let (w, link) = ("\(path)/real/w", "\(path)/link")
            try FileManager.default.createDirectory(
                atPath: "\(path)/real", withIntermediateDirectories: false)
            #expect(try await Tool.run("import", w, input: lines(0..<2000)).status == 0)
            #expect(try await Tool.run("compact", w).status == 0)
            try damageFirstSnapshot(of: w)
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: w)
            let repaired = try await Tool.run("repair", link)
            #expect(repaired.status == 3, "\(repaired.errors)")
            #expect(repaired.errors.contains("real/w.damaged"), "\(repaired.errors)")
            #expect(isThere("\(w).damaged") && !isThere("\(link).damaged"))
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == w)
            #expect(try await Tool.run("verify", w).status == 0)
            #expect(try await Tool.run("verify", link).status == 0)
        }
    }

    @Test func namesAreExchangedInOneStep() async throws {
        try await withTemporaryDirectory { path in
            for name in ["a", "b"] {
                try FileManager.default.createDirectory(
                    atPath: "\(path)/\(name)", withIntermediateDirectories: false)
                try writeBytes(Array(name.utf8), to: "\(path)/\(name)/file")
            }
            guard try PosixFileSystem().exchange("\(path)/a", "\(path)/b") else { return }
            #expect(try readBytes("\(path)/a/file") == Array("b".utf8))
            #expect(try readBytes("\(path)/b/file") == Array("a".utf8))
            #expect(throws: RoostError.self) {
                try PosixFileSystem().exchange("\(path)/a", "\(path)/missing")
            }
        }
    }
}
