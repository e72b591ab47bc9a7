import Foundation
import RoostTestSupport
import Testing

@testable import RoostCommand

@Suite struct ShellTests {
    @Test func linesFromAPipeAreAnsweredUntilOneFails() async throws {
        try await withTemporaryDirectory { path in
            let w = "\(path)/w"
            #expect(try await Tool.run("import", w, input: lines(0..<3)).status == 0)
            let answers = try await Tool.run(
                "shell", w,
                input: """
                    dictionaries
                    set "a b" {"x": "y z"}
                    get "a b"

                    use other
                    count
                    set k "text with \\" in it"
                    get k
                    use d
                    keys k
                    scan k 2
                    remove k0
                    count
                    exit
                    get never
                    """)
            #expect(answers.status == 0, "\(answers.errors)")
            #expect(
                answers.lines == [
                    "d", #"{"x":"y z"}"#, "0", "text with \" in it", "k0", "k1", "k2", "key  value",
                    "---  -----", "k0   0", "k1   1", "3",
                ])
            #expect(try await Tool.run("get", w, "other", "k").output == "text with \" in it\n")
            for (line, status) in [
                ("get none", 1), ("set k {", 2), ("nonsense", 2), ("get \"k", 2), ("use", 2),
                ("scan k x", 2), ("scan k 1 x", 2), ("keys a b c", 2), ("count other", 2),
                ("dictionaries d", 2), ("exit 5", 2),
            ] {
                let outcome = try await Tool.run("shell", w, input: "use d\n\(line)\ncount\n")
                #expect(outcome.status == status, "\(line): \(outcome.errors)")
                #expect(outcome.output.isEmpty)
            }
            let refused = try await Tool.run("shell", w, "--read-only", input: "use d\nset k 1\n")
            #expect(refused.status == 5 && refused.errors.contains("readOnly"))
        }
    }

    @Test func damageThatIsFoundEndsTheLinesFromAPipe() async throws {
        try await withTemporaryDirectory { path in
            let w = "\(path)/w"
            #expect(try await Tool.run("import", w, input: lines(0..<300)).status == 0)
            #expect(try await Tool.run("compact", w).status == 0)
            try damageFirstSnapshot(of: w)
            let outcome = try await Tool.run("shell", w, input: "verify\ndictionaries\n")
            #expect(outcome.status == 3, "\(outcome.errors)")
            #expect(outcome.lines == ["damaged"])
            #expect(outcome.errors.count(where: \.isNewline) == 1, "\(outcome.errors)")
        }
    }

    @Test func aTerminalHasHistoryAndCompletesCommandsDictionariesAndKeys() async throws {
        try await withTemporaryDirectory { path in
            let w = "\(path)/w"
            let input =
                ["alpha/one", "alpha/two", "beta"].map {
                    "{\"dictionary\":\"birds\",\"key\":\"\($0)\",\"value\":\"v \($0)\"}\n"
                }.joined() + "{\"dictionary\":\"plants\",\"key\":\"fern\",\"value\":1}\n"
            #expect(try await Tool.run("import", w, input: input).status == 0)
            let terminal = try Terminal(home: path)
            let process = try Tool.process("shell", w)
            try terminal.run(process)
            try terminal.expect("roost> ")
            guard terminal.isEdited else {
                process.terminate()
                return  // Neither libedit nor readline is there; lines are plain then.
            }
            terminal.send("use bi\t\n")
            try terminal.expect("roost birds> ")
            terminal.send("get be\t\n")
            try terminal.expect("v beta")
            terminal.send("get al\tt\t\n")
            try terminal.expect("v alpha/two")
            terminal.send("get none\n")
            try terminal.expect("has no value")
            // The line before the last, again.
            terminal.send("\u{1b}[A\u{1b}[A\n")
            try terminal.expect("v alpha/two")
            terminal.send("cou\t\n")
            try terminal.expect("3")
            terminal.send("exit\n")
            try await terminal.end(process)
            #expect(process.terminationStatus == 0)
            let history = try String(contentsOfFile: "\(path)/.history", encoding: .utf8)
            #expect(history.contains("get beta"))
        }
    }

    /// They were taken as one line, and none was run.
    @Test func linesThatArePastedAreRunOneByOneUntilOneFails() async throws {
        try await withTemporaryDirectory { path in
            let w = "\(path)/w"
            #expect(try await Tool.run("set", w, "birds", "k", "1").status == 0)
            let terminal = try Terminal(home: path)
            let process = try Tool.process("shell", w)
            try terminal.run(process)
            try terminal.expect("roost birds> ")
            guard terminal.isEdited else {
                process.terminate()
                return  // Neither libedit nor readline is there; lines are plain then.
            }
            terminal.send(
                "\u{1b}[200~set a 1\rset b {\r  \"c\": [\r1]}\rset \"two\rlines\" 3\rnonsense\rset d 4\u{1b}[201~\n"
            )
            try terminal.expect("is no command")
            terminal.send("exit\n")
            try await terminal.end(process)
            let scanned = try await Tool.run("scan", w, "birds", "--format", "jsonl")
            #expect(
                scanned.lines == [
                    "{\"key\":\"a\",\"value\":1}", "{\"key\":\"b\",\"value\":{\"c\":[1]}}",
                    "{\"key\":\"k\",\"value\":1}", "{\"key\":\"two\\nlines\",\"value\":3}",
                ])
        }
    }

    @Test func whatIsPastedIsTakenApartAtLineEndsAlone() {
        #expect(PastedLines("get a").commands == ["get a"])
        #expect(PastedLines("get a\r\n\r  \nget b\n").commands == ["get a", "get b"])
        #expect(PastedLines("  set a {\"}\": [\n]}\nget {\nkeys").commands.count == 3)
        let text = "set k \"a\u{2028}\\\"b\""
        #expect(PastedLines(text).commands == [text])
        #expect(PastedLines("set a \"open\nget b").commands == ["set a \"open\nget b"])
    }

    /// What the tabulator key puts into the line is read as the key that it is, and the lines stay though the terminal goes.
    @Test func keysThatNeedQuotesAreCompletedInQuotes() async throws {
        try await withTemporaryDirectory { path in
            let w = "\(path)/w"
            for (key, value) in [("red bird", "v1"), ("user@one", "v2"), ("say \"x", "v3")] {
                let set = try await Tool.run("set", w, "birds", key, "--string", value)
                #expect(set.status == 0, "\(set.errors)")
            }
            let terminal = try Terminal(home: path)
            let process = try Tool.process("shell", w)
            try terminal.run(process)
            try terminal.expect("roost birds> ")
            guard terminal.isEdited else {
                process.terminate()
                return  // Neither libedit nor readline is there; lines are plain then.
            }
            for (keys, value) in [
                ("get re\t\n", "v1"), ("get \"re\t\n", "v1"), ("get user@\t\n", "v2"),
                ("get s\t\n", "v3"),
            ] {
                terminal.send(keys)
                try terminal.expect(value)
            }
            try terminal.expect("roost birds> ")
            // As Control-C does, and no key comes after it.
            process.interrupt()
            let begin = ContinuousClock.now
            try await terminal.end(process)
            #expect(process.terminationReason == .uncaughtSignal)
            #expect(ContinuousClock.now - begin < .seconds(60), "it waited for another key")
            let history = try String(contentsOfFile: "\(path)/.history", encoding: .utf8)
            #expect(history.contains("get user@one"))
        }
    }

    /// A name is data: a shell that completes it neither runs it nor takes it for another one.
    @Test func bashCompletesNamesAndRunsNothingInThem() async throws {
        try await withTemporaryDirectory { path in
            let w = "\(path)/w"
            let mark = "\(path)/ran"
            for key in ["run$(touch \(mark))", "it's", "a b", "$HOME", "x\ny"] {
                #expect(try await Tool.run("set", w, "the names", key, "1").status == 0)
            }
            let script = try await Tool.run("completions", "bash").output
            let tool = try Tool.process().executableURL!
            func completed(_ words: [String]) throws -> [String] {
                let process = Process()
                process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
                process.currentDirectoryURL = URL(fileURLWithPath: path)
                process.arguments =
                    [
                        "bash", "-c",
                        script
                            + """
                            words=("$@")
                            COMP_WORDS=("${words[@]}") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
                            COMP_POINT=${#COMP_LINE}
                            _roost "$1" "${words[$(($# - 1))]}" "${words[$(($# - 2))]}"
                            printf '%s\\n' "${COMPREPLY[@]}"
                            """, "bash", tool.path,
                    ] + words
                let pipe = Pipe()
                process.standardOutput = pipe
                try process.run()
                let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
                process.waitUntilExit()
                return String(decoding: output, as: UTF8.self).split(separator: "\n").map(
                    String.init)
            }
            #expect(try completed(["get", w, ""]) == [#"the\ names"#])
            let names = try completed(["get", w, #"the\ names"#, ""])
            #expect(
                names == [#"\$HOME"#, #"a\ b"#, #"it\'s"#, #"run\$\(touch\ "# + mark + #"\)"#])
            #expect(try completed(["get", w, "'the names'", "it"]) == [#"it\'s"#])
            #expect(try completed(["get", w, "'the names'", #"a\ "#]) == [#"a\ b"#])
            #expect(!FileManager.default.fileExists(atPath: mark))
        }
    }

    @Test func completionScriptsAreThoseOfTheShells() async throws {
        #expect(try await Tool.run("completions", "bash").output.contains("complete -o"))
        #expect(try await Tool.run("completions", "zsh").output.hasPrefix("#compdef roost"))
        #expect(try await Tool.run("completions", "fish").output.contains("complete -c 'roost'"))
        #expect(try await Tool.run("completions", "tcsh").status == 2)
    }
}
