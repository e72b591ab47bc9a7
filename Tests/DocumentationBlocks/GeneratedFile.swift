import Foundation

/// The Swift file that compiles one block: its declarations, private to the file, and a function of
/// its statements. Paths that documents name are taken below `home`.
struct GeneratedFile {
    let block: CodeBlock
    private let imports: [String]
    private let declarations: [String]
    private let statements: [String]

    var functionName: String { block.name!.replacingOccurrences(of: "-", with: "_") }

    init(_ block: CodeBlock) {
        self.block = block
        var split = Split()
        split.add(block.given)
        split.add(block.code)
        split.add(block.expected)
        imports = Set(["import Foundation", "import Roost", "import Testing"] + split.imports)
            .sorted()
        declarations = split.declarations
        statements = split.statements
    }

    var text: String {
        var lines = [
            "// Written by `make blocks` from \(block.file): do not edit.",
            "// swift-format-ignore-file",
        ]
        lines += imports + [""]
        lines += declarations
        lines += ["", "extension Blocks {"]
        lines += ["    static func \(functionName)(home: String) async throws {"]
        lines += ["        try await Task.sleep(for: .zero)"]
        lines += statements.map { Self.atHome($0) }.map { $0.isEmpty ? "" : "        " + $0 }
        lines += ["    }", "}", ""]
        return lines.joined(separator: "\n")
    }

    /// The declarations alone, of a block that has no more.
    var declarationText: String {
        let lines = [
            "// Written by `make blocks` from \(block.file): do not edit.",
            "// swift-format-ignore-file",
            "import Roost", "import RoostMacros", "", "enum \(functionName) {",
        ]
        // The file's other declarations may have the same names.
        let nested = declarations.map { "    " + $0.replacing("private ", with: "") }
        return (lines + nested + ["}", ""]).joined(separator: "\n")
    }

    private static func atHome(_ line: String) -> String {
        line.replacingOccurrences(of: "\"/var/lib/app", with: "\"\\(home)")
            .replacingOccurrences(of: "\"/backups", with: "\"\\(home)/backups")
    }

    /// What stands at a file's level, and what in a function.
    private struct Split {
        var imports: [String] = []
        var declarations: [String] = []
        var statements: [String] = []
        private static var keyword: some RegexComponent {
            #/^(@\S+ )*((nonisolated|final|indirect|private|public) )*(struct|enum|class|actor|extension|protocol) /#
        }

        mutating func add(_ lines: [String]) {
            var depth = 0
            var isDeclaration = false
            for line in lines {
                let begins = depth == 0 && line.firstMatch(of: Self.keyword) != nil
                if line.hasPrefix("import ") {
                    imports.append(line)
                    continue
                }
                if depth == 0 {
                    isDeclaration =
                        begins || (line.hasPrefix("@") && !line.hasPrefix("@MainActor let"))
                }
                depth += Self.depth(of: line)
                if isDeclaration {
                    declarations.append(begins ? Self.madePrivate(line) : line)
                } else {
                    statements += Self.used(line, isOutside: depth == 0)
                }
            }
        }

        private static func depth(of line: String) -> Int {
            let code = line.split(separator: "//", omittingEmptySubsequences: false)[0]
            return code.reduce(0) { depth, character in
                "{([".contains(character)
                    ? depth + 1 : "})]".contains(character) ? depth - 1 : depth
            }
        }

        private static func madePrivate(_ line: String) -> String {
            if line.contains("private ") || line.contains("public ") { return line }
            // A conformance is as visible as its type.
            if line.firstMatch(of: #/extension [\w.]+: /#) != nil { return line }
            var line = line
            let words = [
                "nonisolated ", "final ", "indirect ", "struct ", "enum ", "class ", "actor ",
                "extension ", "protocol ",
            ]
            let places = words.compactMap { line.range(of: $0)?.lowerBound }
            line.insert(contentsOf: "private ", at: places.min()!)
            return line
        }

        /// The line, and a use of each constant that it declares, so that nothing is warned of.
        private static func used(_ line: String, isOutside: Bool) -> [String] {
            guard isOutside else { return [line] }
            // A loop that a document leaves empty.
            if let match = line.firstMatch(of: /^for (try )?await (.+) in .* \{ \}/) {
                return [line.replacingOccurrences(of: "{ }", with: "{ _ = \(match.output.2) }")]
            }
            // As a document has a property or a global.
            if let match = line.firstMatch(of: /^@MainActor let (\w+) = (.+?)( +\/\/.*)?$/) {
                let (name, value) = (match.output.1, match.output.2)
                return ["let \(name) = await MainActor.run { \(value) }", "_ = \(name)"]
            }
            let names = line.matches(of: /(^|; )let (\w+)( =|:)/).map { String($0.output.2) }
            return [line] + names.map { "_ = \($0)" }
        }
    }
}
