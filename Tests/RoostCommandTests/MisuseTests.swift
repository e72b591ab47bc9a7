import Foundation
import RoostTestSupport
import Testing

/// Options and arguments that would do nothing, or something else than they say.
@Suite struct MisuseTests {
    /// It printed nothing, with exit status 0.
    @Test func aDirectoryThatIsNoWorkspaceIsNotDumpedAsAnEmptyOne() async throws {
        try await withTemporaryDirectory { path in
            try writeBytes([1], to: "\(path)/foreign")
            let dumped = try await Tool.run("dump", path)
            #expect(dumped.status == 5)
            #expect(dumped.errors.contains("no workspace here"), "\(dumped.errors)")
        }
    }

    @Test func optionsThatDoNothingAreWrongUsage() async throws {
        try await withTemporaryDirectory { path in
            let (w, other) = ("\(path)/w", "\(path)/other")
            #expect(try await Tool.run("import", w, input: lines(0..<3)).status == 0)
            for (arguments, reason) in [
                (["backup", w, other, "--keep", "3"], "--series"),
                (["backup", w, other, "--keep-daily", "3"], "--series"),
                (["copy", w, other, "--namespace", "x"], "clusters"),
                (["copy", w, other, "--user", "ada"], "directories"),
                (["copy", w, other, "--ca", "authority.pem"], "directories"),
                (["copy", w, other, "--deadline", "3"], "directories"),
                (["copy", w, "etcd://h:1", "--password-file", "p", "--namespace", "n"], "--user"),
                (
                    ["copy", "etcd://h:1", other, "--key-file", "k", "--namespace", "n"],
                    "--to-key-file"
                ),
                (
                    ["copy", "etcd://h:1", other, "--namespace", "n", "--to-namespace", "m"],
                    "a cluster"
                ),
                (["import", other, "--id", "name"], "--id"),
                (["import", other, "--id-kind", "int"], "--id-kind"),
                (["import", other, "--format", "plist", "--into", "d", "--id", "x"], "--id"),
            ] {
                let outcome = try await Tool.run(arguments, input: lines(0..<3))
                #expect(outcome.status == 2, "\(arguments)")
                #expect(outcome.errors.contains(reason), "\(outcome.errors)")
                #expect(!FileManager.default.fileExists(atPath: other), "\(arguments)")
            }
            let kept = try await Tool.run("backup", w, other, "--series")
            #expect(kept.status == 0, "\(kept.errors)")
        }
    }

    /// As in an import.
    @Test func whatNoWorkspaceTakesIsWrongInput() async throws {
        try await withTemporaryDirectory { path in
            let w = "\(path)/w"
            let long = String(repeating: "x", count: 1 << 16) + "x"
            for (arguments, reason) in [
                ([String(long.prefix(256)), "k", "1"], "\"dictionary\" has 256 bytes"),
                (["d", long, "1"], "\"key\" has 65,537 bytes"),
                (["d", "k", "{\"$raw\":{\"kind\":64,\"payload\":\"AAEC\"}}"], "make no sense"),
            ] {
                let outcome = try await Tool.run(["set", w] + arguments)
                #expect(outcome.status == 2, "\(reason)")
                #expect(outcome.errors.contains(reason), "\(outcome.errors)")
                #expect(!FileManager.default.fileExists(atPath: w))
            }
        }
    }

    @Test func whatBeginsWithADashIsSaidToStandBehindTwo() async throws {
        try await withTemporaryDirectory { path in
            let w = "\(path)/w"
            #expect(try await Tool.run("set", w, "d", "--", "-k", "-1").status == 0)
            let taken = try await Tool.run("get", w, "d", "-k")
            #expect(taken.status == 2 && taken.errors.contains("behind --"), "\(taken.errors)")
            let listed = try await Tool.run("keys", w, "d", "--prefix", "-k")
            #expect(listed.status == 2 && listed.errors.contains("--prefix=-x"), "\(listed.errors)")
            let missing = try await Tool.run("get", w, "d")
            #expect(missing.status == 2 && !missing.errors.contains("behind"), "\(missing.errors)")
            #expect(try await Tool.run("get", w, "d", "--", "-k").output == "-1\n")
            #expect(try await Tool.run("keys", w, "d", "--prefix=-k").output == "-k\n")
        }
    }

    @Test func theWayOfASearchIsJSONWhereThatIsAskedFor() async throws {
        try await withTemporaryDirectory { path in
            let w = "\(path)/w"
            let imported = try await Tool.run(
                "import", w, "--format", "jsonl", "--into", "P",
                input: "{\"id\":\"a\",\"n\":1}\n{\"id\":\"b\",\"n\":2}\n")
            #expect(imported.status == 0, "\(imported.errors)")
            let explained = try await Tool.run(
                "objects", w, "P", "--where", "n > 1", "--order", "n", "--explain", "--format",
                "json")
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(explained.output.utf8))
                    as? [String: Any])
            #expect(object["way"] as? String == "every object")
            #expect(object["objectCount"] as? Int == 2)
            #expect(object["isSorted"] as? Bool == true)

            let shown = try await Tool.run("objects", w, "P", "--fields", "n,nmae")
            #expect(shown.status == 0)
            #expect(shown.errors.contains("has a member \"nmae\""), "\(shown.errors)")
            let right = try await Tool.run("objects", w, "P", "--fields", "id,n")
            #expect(right.errors.isEmpty, "\(right.errors)")
        }
    }
}
