import Foundation
import Roost
import Testing

@Suite("What the inspector shows of a damaged workspace")
struct DamageTests {
    @Test(
        "a dictionary whose first record cannot be read is listed with what is wrong, beside others"
    )
    func damagedDictionary() async throws {
        try await withDamagedDictionary { server in
            let answer = try await server.get("/api/dictionaries")
            #expect(answer.status == 200, "\(answer.body)")
            let list = try #require(try answer.json["dictionaries"] as? [[String: Any]])
            // What was removed since is none, and what is in the log alone is one.
            #expect(list.compactMap { $0["name"] as? String } == ["Bird", "blob", "late", "many"])
            let counts = list.map { $0["snapshotRecordCount"] as? Int }
            // On a machine that is slow, the workspace was at rest before it was closed, and has flushed it.
            #expect(counts == [2_000, 40, 0, 2_000] || counts == [2_000, 40, 1, 2_000])
            #expect(try answer.json["indexProblem"] is NSNull)
            let problems = list.map { $0["problem"] as? String }
            #expect(problems[1]?.contains("corrupt") == true, "\(problems)")
            #expect(problems.contains(nil))
            // A search for another dictionary may come by the damaged place: then that one cannot be read either.
            for (index, name) in ["Bird", "blob", "late", "many"].enumerated() {
                let entries = try await server.get("/api/entries?limit=1&dictionary=\(name)")
                #expect((entries.status == 200) == (problems[index] == nil), "\(name)")
            }
        }
    }

    /// Runs `body` with a workspace in which the first record of "blob" is damaged.
    private func withDamagedDictionary(_ body: (Server) async throws -> Void) async throws {
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("roost-inspector-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let workspace = try await Workspace.open(at: path)
        // Larger than a group of records, so that each of the others begins in one of its own.
        try await workspace.repository(of: Bird.self).saveAll(
            (0..<2_000).map {
                Bird(id: "\($0)", name: "b", wingspan: 1, count: $0, seen: nil, tags: [])
            })
        // No compression changes them, so that the first is found in the file.
        var state: UInt64 = 1
        let blobs = (0..<40).map { _ in
            (0..<4096).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(state >> 56)
            }
        }
        for (index, bytes) in blobs.enumerated() {
            try await workspace.dictionary("blob").set(bytes, forKey: "\(100 + index)")
        }
        for name in ["many", "none"] {
            for number in 0..<2_000 {
                try await workspace.dictionary(name).set("\(number)", forKey: "\(number)")
            }
        }
        try await workspace.compact()
        try await workspace.dictionary("none").removeAll()
        try await workspace.dictionary("late").set(1, forKey: "a")
        try await workspace.close()
        try damage(Data(blobs[0]), in: path)
        let damaged = try await Workspace.open(at: path)
        try await withInspector(of: damaged) { try await body($0) }
        try await damaged.close()
    }

    private func damage(_ bytes: Data, in directory: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
            let url = URL(fileURLWithPath: "\(directory)/\(name)")
            var content = try Data(contentsOf: url)
            guard name.hasPrefix("snapshot"), let place = content.range(of: bytes) else { continue }
            content[place.lowerBound + 7] ^= 0x10
            try content.write(to: url)
            return
        }
        Issue.record("no snapshot has the bytes")
    }
}
