import Foundation
import RoostIO
import RoostTestSupport
import Testing

@testable import RoostEngine

/// A directory that takes another one's place while it is opened, as a repair has it.
@Suite struct ReplacedDirectoryTests {
    /// Puts another directory at the path, once, after that which stood there was opened and before it is locked.
    private final class ReplacingFileSystem: FileSystem {
        let replacement: String
        init(replacement: String) { self.replacement = replacement }

        func openDirectory(at path: String, create: Bool) throws -> any Directory {
            let directory = try PosixFileSystem().openDirectory(at: path, create: create)
            if FileManager.default.fileExists(atPath: replacement) {
                #expect(try PosixFileSystem().exchange(path, replacement))
                try FileManager.default.moveItem(atPath: replacement, toPath: "\(replacement).old")
            }
            return directory
        }
    }

    @Test func aWriterOpensTheOneThatIsThereAndNotTheOneThatWasMovedAway() async throws {
        try await withTemporaryDirectory { path in
            for name in ["w", "other"] {
                let engine = try await Engine.open(
                    at: "\(path)/\(name)", fileSystem: PosixFileSystem(),
                    configuration: EngineConfiguration())
                try await engine.close()
            }
            let before = try FileManager.default.contentsOfDirectory(atPath: "\(path)/w").sorted()
            let engine = try await Engine.open(
                at: "\(path)/w", fileSystem: ReplacingFileSystem(replacement: "\(path)/other"),
                configuration: EngineConfiguration())
            // The one that was moved away is free, and as it was.
            let old = "\(path)/other.old"
            #expect(try FileManager.default.contentsOfDirectory(atPath: old).sorted() == before)
            let other = try await Engine.open(
                at: old, fileSystem: PosixFileSystem(), configuration: EngineConfiguration())
            try await other.close()
            await #expect(throws: RoostError.self) {
                try await Engine.open(
                    at: "\(path)/w", fileSystem: PosixFileSystem(),
                    configuration: EngineConfiguration())
            }
            try await engine.close()
        }
    }
}
