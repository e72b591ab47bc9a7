import Foundation
import RoostFormat
import RoostIO
import RoostTestSupport
import Testing

@Suite struct IncompleteDirectoryTests {
    private func make(_ name: String, in path: String) throws -> IncompleteDirectory {
        let parent = try PosixFileSystem().openDirectory(at: path, create: false)
        return try IncompleteDirectory(of: name, in: parent, by: "restore") {
            $0.name.hasPrefix("own")
        }
    }

    private func names(at path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }

    @Test func oneAtATimeMakesItAndItHasItsNameOnceItIsWhole() async throws {
        try await withTemporaryDirectory { path in
            let first = try make("a", in: path)
            try writeBytes([1], to: "\(first.path)/own")
            let refused = #expect(throws: RoostError.self) { try make("a", in: path) }
            #expect(refused?.code == .locked)
            #expect(try names(at: path) == ["a.incomplete"])
            try first.finish()
            #expect(try names(at: path) == ["a"])
            #expect(try names(at: "\(path)/a") == ["own"])
            let late = #expect(throws: RoostError.self) { try make("a", in: path) }
            #expect(late?.code == .io)
            #expect(try names(at: "\(path)/a") == ["own"])
        }
    }

    @Test func whatAnotherLeftIsRemovedButNothingOfSomebodyElse() async throws {
        try await withTemporaryDirectory { path in
            do {
                let left = try make("a", in: path)
                try writeBytes([1], to: "\(left.path)/own")
            }
            try writeBytes([1], to: "\(path)/a.incomplete/mine")
            let error = #expect(throws: RoostError.self) { try make("a", in: path) }
            #expect(error?.message.contains("\"mine\" is no part of a restore") == true)
            #expect(try names(at: "\(path)/a.incomplete") == ["mine", "own"])
            try FileManager.default.removeItem(atPath: "\(path)/a.incomplete/mine")
            let next = try make("a", in: path)
            #expect(try names(at: next.path) == ["MAKING"])
            next.abandon()
            #expect(try names(at: path) == [])
        }
    }

    /// What took the name meanwhile stays as it is.
    @Test func aNameThatIsTakenMeanwhileIsNotReplaced() async throws {
        try await withTemporaryDirectory { path in
            let made = try make("a", in: path)
            try FileManager.default.createDirectory(
                atPath: "\(path)/a", withIntermediateDirectories: false)
            let error = #expect(throws: RoostError.self) { try made.finish() }
            #expect(error?.message.contains("something here already") == true)
            #expect(try names(at: path) == ["a", "a.incomplete"])
        }
    }
}
