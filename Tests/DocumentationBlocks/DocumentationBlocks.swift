import Foundation

/// Writes the code of the documents into the tests that compile and run it: `make blocks`.
@main
enum DocumentationBlocks {
    static let directories = ["RoostDocumentationTests", "RoostMainActorDocumentationTests"].map {
        "Tests/\($0)/Blocks"
    }

    static func main() throws {
        for (path, text) in try Documents.generated {
            try Data(text.utf8).write(to: Documents.root.appendingPathComponent(path))
        }
        for path in try leftovers() {
            try FileManager.default.removeItem(at: Documents.root.appendingPathComponent(path))
        }
    }

    /// Generated files that belong to no block any more.
    static func leftovers() throws -> [String] {
        let generated = try Documents.generated
        return try directories.flatMap { directory in
            let path = Documents.root.appendingPathComponent(directory).path
            return try FileManager.default.contentsOfDirectory(atPath: path)
                .map { "\(directory)/\($0)" }
                .filter { generated[$0] == nil }
        }
    }
}
