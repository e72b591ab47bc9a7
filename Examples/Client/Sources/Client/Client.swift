import Foundation
import Roost

/// Uses the calls of the public API that an app makes, from code that lives on the main actor, and from tasks
/// that do not, and checks what it gives.
@main
struct Client {
    static func main() async throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("roost-client-\(UUID().uuidString)")
        do {
            try await useEverything(in: directory)
        } catch {
            try FileManager.default.removeItem(at: directory)
            throw error
        }
        try FileManager.default.removeItem(at: directory)
        print("client passed")
    }

    private static func useEverything(in directory: URL) async throws {
        let path = directory.appendingPathComponent("data").path
        try await checkOpening(path)
        try await checkDictionaries(path)
        try await checkKeys(path)
        try await checkExpiry()
        try await checkMigrations(path)
        try await checkManyAtOnce(path)
        try await checkConsistency(path)
        try await checkTasks(path)
        try await checkWatching(path)
        try await checkObjects()
        try await checkErrors(path)
        try await checkCare(path)
    }
}

/// Ends the client, saying where, unless `condition` holds.
func check(_ condition: Bool, _ text: String, line: UInt = #line) throws {
    guard condition else { throw ClientFailure(text: text, line: line) }
}

/// Runs `body`, which must throw a `RoostError` of `code`.
func expect(
    _ code: RoostError.Code, line: UInt = #line, _ body: () async throws -> Void
) async throws {
    do { try await body() } catch let error as RoostError {
        return try check(error.code == code, "\(error) instead of \(code)", line: line)
    }
    throw ClientFailure(text: "no error instead of \(code)", line: line)
}

struct ClientFailure: Error {
    var text: String
    var line: UInt
}
