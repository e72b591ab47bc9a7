import Foundation

/// The documents whose code is run, and what is generated from them.
enum Documents {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// Paths below the package's directory.
    static var files: [String] {
        get throws {
            var files = ["README.md", "docs/API.md", "docs/COMMAND.md"]
            let catalog = "Sources/Roost/Documentation.docc"
            let articles = root.appendingPathComponent(catalog)
            if FileManager.default.fileExists(atPath: articles.path) {
                files += try FileManager.default.contentsOfDirectory(atPath: articles.path)
                    .filter { $0.hasSuffix(".md") }.sorted().map { "\(catalog)/\($0)" }
            }
            return files
        }
    }

    static func blocks(of file: String) throws -> [CodeBlock] {
        CodeBlock.all(
            in: try String(contentsOf: root.appendingPathComponent(file), encoding: .utf8),
            file: file)
    }

    static var blocks: [CodeBlock] { get throws { try files.flatMap(blocks(of:)) } }

    /// What the directories of generated files are to hold, by paths below the package's directory.
    static var generated: [String: String] {
        get throws {
            var texts: [String: String] = [:]
            for block in try blocks where block.language == "swift" && block.name != nil {
                if block.options.contains("trait") {
                    // Of a product that a trait switches on: compiled by the package of their tests.
                    let file = GeneratedFile(block)
                    texts["Extras/Tests/MainActorClientTests/Blocks/\(file.functionName).swift"] =
                        file.declarationText
                } else if block.options.contains("program") {
                    texts["Tests/FirstProgram/main.swift"] =
                        block.code.joined(separator: "\n") + "\n"
                } else if !block.options.contains("manifest") {
                    let file = GeneratedFile(block)
                    texts["Tests/RoostDocumentationTests/Blocks/\(file.functionName).swift"] =
                        file.text
                    // Once more as apps are: everything is on the main actor.
                    if block.file == "docs/API.md" {
                        texts[
                            "Tests/RoostMainActorDocumentationTests/Blocks/\(file.functionName).swift"
                        ] =
                            file.text
                    }
                }
            }
            for directory in ["RoostDocumentationTests", "RoostMainActorDocumentationTests"] {
                let own = texts.keys.filter { $0.hasPrefix("Tests/\(directory)/Blocks/") }.sorted()
                texts["Tests/\(directory)/Blocks/Blocks.swift"] = try table(own, directory)
            }
            return texts
        }
    }

    private static func table(_ paths: [String], _ directory: String) throws -> String {
        let watching = Set(
            try blocks.filter { $0.options.contains("watching") }.compactMap(\.name))
        var lines = [
            "// Written by `make blocks`: do not edit.", "// swift-format-ignore-file", "",
            "/// The code blocks of the documents. Those that watch end when they are cancelled.",
            "enum Blocks {",
            "    nonisolated static let all: [(name: String, isWatching: Bool, run: @Sendable (String) async throws -> Void)] = [",
        ]
        for path in paths {
            let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
            let block = name.replacingOccurrences(of: "_", with: "-")
            lines.append(
                "        (\"\(block)\", \(watching.contains(block)), { try await Blocks.\(name)(home: $0) }),"
            )
        }
        return (lines + ["    ]", "}", ""]).joined(separator: "\n")
    }
}
