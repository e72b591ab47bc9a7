import RoostTestSupport
import Testing

/// What the argument parser does not understand is answered with what to write.
@Suite struct UsageHintTests {
    @Test func aNegativeNumberIsToldWhereItStands() async throws {
        try await withTemporaryDirectory { path in
            let refused = try await Tool.run("set", "\(path)/w", "d", "k", "-5")
            #expect(refused.status == 2)
            #expect(refused.errors.contains("stands behind --, as -- -5"), "\(refused.errors)")
            let set = try await Tool.run("set", "\(path)/w", "d", "k", "--", "-5")
            #expect(set.status == 0)
            #expect(try await Tool.run("get", "\(path)/w", "d", "k").lines == ["-5"])
        }
    }

    @Test func aClusterHasSomeSubcommands() async throws {
        let verified = try await Tool.run(
            "--cluster", "etcd://127.0.0.1:1", "--namespace", "n", "verify")
        #expect(verified.status == 2)
        #expect(verified.errors.contains("over a cluster there are get, set"), "\(verified.errors)")
        let imported = try await Tool.run(
            "--cluster", "etcd://127.0.0.1:1", "--namespace", "n", "import", "posts.json",
            "--format", "json", "--into", "Post")
        #expect(imported.status == 2)
        #expect(imported.errors.contains("reads JSON Lines"), "\(imported.errors)")
    }

    @Test func aValueOfAnOptionIsToldApart() async throws {
        let limited = try await Tool.run("scan", "w", "d", "--limit", "-1")
        #expect(limited.status == 2)
        #expect(limited.errors.contains("behind =, as --limit=-1"), "\(limited.errors)")
        let nameless = try await Tool.run("--cluster", "etcd://127.0.0.1:1", "get", "d", "k")
        #expect(nameless.status == 2)
        #expect(
            nameless.errors.contains("--namespace") && !nameless.errors.contains("begins with"),
            "\(nameless.errors)")
    }

    @Test(arguments: ["", String(repeating: "n", count: 129)])
    func aNamespaceThatCannotBeIsWrongUsage(_ name: String) async throws {
        for arguments in [
            ["--cluster", "etcd://127.0.0.1:1", "--namespace", name, "get", "d", "k"],
            ["copy", "w", "etcd://127.0.0.1:1", "--namespace", name],
        ] {
            let refused = try await Tool.run(arguments)
            #expect(refused.status == 2)
            #expect(refused.errors.contains("between 1 and 128 bytes"), "\(refused.errors)")
        }
    }

    /// None of two is passed over without a word, nor one that a target has no use for.
    @Test func aTargetHasOneKey() async throws {
        let keys = ["--to-passphrase-file", "p", "--to-key-file", "k"]
        for command in [["copy", "v", "w"], ["restore", "file:///copy", "w"]] {
            let refused = try await Tool.run(command + keys)
            #expect(refused.status == 2, "\(command)")
            #expect(refused.errors.contains("--to-key-file"), "\(refused.errors)")
        }
        for options in [keys.prefix(2), keys.suffix(2)] {
            let refused = try await Tool.run(
                ["copy", "v", "etcd://127.0.0.1:1", "--namespace", "n"] + options)
            #expect(refused.status == 2)
            #expect(refused.errors.contains("a cluster has no key"), "\(refused.errors)")
        }
    }

    @Test func otherMessagesStayAsTheyAre() async throws {
        let refused = try await Tool.run("get", "w", "d")
        #expect(refused.status == 2)
        #expect(refused.errors == "roost: Missing expected argument '<key>' (see roost --help)\n")
    }
}
