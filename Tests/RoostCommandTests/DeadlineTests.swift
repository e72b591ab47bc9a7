import Foundation
import RoostTestSupport
import Testing

@testable import Roost
@testable import RoostCommand

/// Values that expire, on the command line.
@Suite struct DeadlineTests {
    @Test(
        arguments: [
            ("90s", 90), ("15m", 900), ("12h", 43_200), ("7d", 604_800), ("36500d", 3_153_600_000),
        ] as [(String, Double)])
    func aValueIsSetForAWhile(text: String, seconds: Double) async throws {
        try await withTemporaryDirectory { path in
            let began = Date()
            let set = try await Tool.run("set", path, "d", "k", "1", "--expires", text)
            #expect(set.status == 0)
            let workspace = try await Workspace.open(at: path)
            let found = try #require(try workspace.dictionary("d").expiration(forKey: "k"))
            #expect((-1...60).contains(found.timeIntervalSince(began) - seconds))
            #expect(try workspace.dictionary("d")["k", as: Int.self] == 1)
            try await workspace.close()
        }
    }

    @Test func aValueIsSetUntilAMomentAndThenForGood() async throws {
        try await withTemporaryDirectory { path in
            let moment = "2112-11-20T10:00:00.125Z"
            let set = try await Tool.run(
                "set", path, "d", "k", "--string", "x", "--expires", moment)
            #expect(set.status == 0)
            #expect(try await Tool.run("set", path, "d", "stays", "2").status == 0)
            let scan = try await Tool.run("scan", path, "d", "--expires", "--format", "jsonl")
            #expect(
                scan.output == """
                    {"key":"k","value":"x","expires":"2112-11-20T10:00:00.125Z"}
                    {"key":"stays","value":2,"expires":null}

                    """)
            #expect(
                try await Tool.run("get", path, "d", "k", "--format", "json").output == """
                    {"dictionary":"d","key":"k","value":"x","expires":"2112-11-20T10:00:00.125Z"}

                    """)
            #expect(try await Tool.run("set", path, "d", "k", "3").status == 0)
            let export = try await Tool.run("export", path)
            #expect(!export.output.contains("expires"))
        }
    }

    /// Whoever imports an old export has written to its keys since.
    @Test func aRecordThatHasExpiredIsPassedOverAtAnImport() async throws {
        try await withTemporaryDirectory { path in
            let store = path + "/store"
            let lines = path + "/lines"
            try """
            {"dictionary":"d","key":"renewed","value":1,"expires":"2020-01-01T00:00:00Z"}
            {"dictionary":"d","key":"lasting","value":2,"expires":"2112-01-01T00:00:00Z"}
            {"dictionary":"d","key":"plain","value":3,"version":2}

            """.write(toFile: lines, atomically: true, encoding: .utf8)
            #expect(try await Tool.run("set", store, "d", "renewed", "7").status == 0)
            let rehearsed = try await Tool.run("import", store, lines, "--dry-run")
            let expected = "2 records imported, 1 passed over, which have expired"
            #expect(
                rehearsed.errors.contains(
                    "2 records would be imported, 1 passed over, which have expired; nothing"))
            let imported = try await Tool.run("import", store, lines)
            #expect(imported.status == 0)
            #expect(imported.errors.contains(expected))
            for (key, value) in [("renewed", "7\n"), ("lasting", "2\n"), ("plain", "3\n")] {
                #expect(try await Tool.run("get", store, "d", key).output == value)
            }
        }
    }

    @Test(arguments: [
        "5", "s", "0s", "-1s", "1.5h", "9w", "36526d", "18446744073709551615d", "tomorrow",
        "2127-01-01T00:00:00Zx", "2127-01-01T00:00:00", "2127-01-01", "12127-01-01T00:00:00Z",
        "2127-01-01T00:00:00Z ", "2127-02-29T00:00:00Z", "2127-13-01T00:00:00Z",
        "2127-01-01T24:00:00Z", "2127-01-01T00:00:00.Z", "2127-01-01T00:00:00+1:00",
        "2127-01-01 00:00:00Z", "2127-01-01T00:00:00+01:00x",
    ])
    func whatIsNoTimeIsRefused(text: String) async throws {
        try await withTemporaryDirectory { path in
            let set = try await Tool.run("set", path + "/w", "d", "k", "1", "--expires=\(text)")
            #expect(set.status == 2 && set.errors.contains("15m"))
            #expect(!FileManager.default.fileExists(atPath: path + "/w"))
        }
    }

    @Test(arguments: [
        "2112-11-20T10:00:00Z", "2112-11-20T10:00:00.000Z", "2112-11-20T12:30:00+02:30",
        "2112-11-20T08:00:00.000-0200",
    ])
    func aMomentIsReadInAnyZone(text: String) {
        #expect(MomentText.milliseconds(text) == 4_509_079_200_000)
    }

    @Test func aMomentThatIsOverIsRefused() async throws {
        try await withTemporaryDirectory { path in
            let set = try await Tool.run(
                "set", path + "/w", "d", "k", "1", "--expires", "2020-01-01T00:00:00Z")
            #expect(set.status == 2 && set.errors.contains("over"))
            #expect(!FileManager.default.fileExists(atPath: path + "/w"))
        }
    }

    /// Deadlines of any millisecond, of years that ISO 8601 does not have too, and versions, come back as they were.
    @Test func whatIsExportedIsImportedWithItsDeadlinesAndVersions() async throws {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: "\(path)/w")
            let now = UInt64(Date().timeIntervalSince1970 * 1000)
            let d = workspace.dictionary("d")
            try await workspace.write { batch in
                for number in 0..<500 {
                    let plain: StoredValue =
                        switch number % 4 {
                        case 0: StoredValue(.string, Array("text \(number)".utf8))
                        case 1: StoredValue(.int, Array(repeating: UInt8(number % 9), count: 8))
                        case 2: StoredValue(.json, Array("[{\"a\":\(number)}]".utf8))
                        default: StoredValue(.uint8, [UInt8(number & 0xff)])
                        }
                    let deadline: UInt64? =
                        switch random.below(4) {
                        case 0: nil
                        case 1: .max - UInt64(1 + random.below(1000))
                        case 2: now + 3_600_000 + UInt64(random.below(1 << 50))
                        default: now + 3_600_000 + UInt64(random.below(1 << 30))
                        }
                    let value = StoredValue(
                        plain, deadlineMilliseconds: deadline,
                        version: random.once(in: 3) ? UInt32(1 + random.below(900)) : 1)
                    batch.setStored(value, forKey: "k\(number)", in: d)
                }
            }
            let count = try d.count
            #expect(count == 500, "seed \(seed)")
            try await workspace.close()
            let lines = try await Tool.run("export", "\(path)/w").output
            #expect(lines.contains("\"expires\":\"20") && lines.contains("\"version\":"))
            #expect(try await Tool.run("import", "\(path)/copy", input: lines).status == 0)
            let diff = try await Tool.run("diff", "\(path)/w", "\(path)/copy")
            #expect(diff.status == 0, "seed \(seed): \(diff.output.prefix(500))")
        }
    }

    @Test(arguments: [
        #""value":1,"expires":5"#, #""value":1,"expires":"soon""#, #""value":1,"version":0"#,
        #""value":1,"version":4294967296"#, #""value":1,"version":"2""#,
        #""value":{"$raw":{"kind":130,"payload":"AAAAAAAAAAAB"}},"expires":"2112-01-01T00:00:00Z""#,
    ])
    func aLineWhoseDeadlineOrVersionIsNoneIsNamed(members: String) async throws {
        try await withTemporaryDirectory { path in
            let line = #"{"dictionary":"d","key":"k",\#(members)}"#
            let result = try await Tool.run("import", "\(path)/w", input: line + "\n")
            #expect(result.status == 2 && result.errors.contains("1"), "\(result.errors)")
        }
    }
}
