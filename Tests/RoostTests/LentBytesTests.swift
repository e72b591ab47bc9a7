import Foundation
import Roost
import RoostTestSupport
import Testing

/// `forEachBytes` lends what `entries` hands out.
@Suite struct LentBytesTests {
    @Test func whatIsLentIsWhatEntriesHandOut() async throws {
        var random = SeededGenerator(seed: testSeed())
        try await WorkspaceKind.onDisk.withHome { home in
            var workspace = try await home.open()
            var blobs = workspace.dictionary("blobs")
            for step in 0..<400 {
                let key = "k\(random.below(200))"
                // Short and long ones, some of which are worth compressing.
                let count = random.once(in: 10) ? random.below(9000) : random.below(200)
                let value =
                    [UInt8](
                        repeating: UInt8(truncatingIfNeeded: step), count: count / 2)
                    + (0..<(count / 2)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
                if random.once(in: 4) {
                    try await blobs.set(value, forKey: key, expiresIn: .seconds(3600))
                } else {
                    try await blobs.set(value, forKey: key)
                }
                if random.once(in: 9) { try await blobs.removeValue(forKey: "k\(step / 2)") }
                if random.once(in: 100) { try await workspace.compact() }
            }
            try await workspace.close()
            workspace = try await home.open()
            blobs = workspace.dictionary("blobs")
            for order in [ScanOrder.ascending, .descending] {
                for limit in [nil, 0, 1, 7, 1000] as [Int?] {
                    let lower = "k\(random.below(100))"
                    let view = try workspace.readView()
                    var expected: [String: [UInt8]] = [:]
                    var keys: [String] = []
                    for try await (key, value) in try view.entries(
                        of: blobs, prefix: "", as: [UInt8].self, limit: limit, order: order)
                    {
                        expected[key] = value
                        keys.append(key)
                    }
                    var lent: [String: [UInt8]] = [:]
                    var lentKeys: [String] = []
                    try view.forEachBytes(of: blobs, limit: limit, order: order) { key, value in
                        lentKeys.append(text(key))
                        lent[text(key)] = value.withUnsafeBytes { Array($0) }
                    }
                    #expect(lentKeys == keys)
                    #expect(lent == expected)
                    var ranged: [String] = []
                    try view.forEachBytes(of: blobs, in: lower..., limit: limit, order: order) {
                        key, _ in ranged.append(text(key))
                    }
                    #expect(
                        try ranged
                            == view.keys(of: blobs, in: lower..., limit: limit, order: order))
                    view.close()
                }
            }
            try await workspace.close()
        }
    }

    @Test func textAndDataAreLentAsTheirBytesAndNothingElse() async throws {
        let workspace = try await Workspace.inMemory()
        let mixed = workspace.dictionary("mixed")
        try await mixed.set("t\u{e9}xt", forKey: "a")
        try await mixed.set(Data([1, 2]), forKey: "b")
        for isCold in [false, true] {
            if isCold { try await workspace.compact() }
            try workspace.read { view in
                var found: [[UInt8]] = []
                try view.forEachBytes(of: mixed) { _, value in
                    found.append(value.withUnsafeBytes { Array($0) })
                }
                #expect(found == [Array("t\u{e9}xt".utf8), [1, 2]])
            }
        }
        try await mixed.set(7, forKey: "c")
        var count = 0
        let error = #expect(throws: RoostError.self) {
            try workspace.read { view in
                try view.forEachBytes(of: mixed) { _, _ in count += 1 }
            }
        }
        #expect(error?.code == .typeMismatch)
        #expect(error?.description.contains("\"c\" in \"mixed\" is stored as Int") == true)
        #expect(count == 2)
        try await workspace.close()
    }

    @Test func whatTheBodyThrowsEndsTheScan() async throws {
        struct Enough: Error {}
        let workspace = try await Workspace.inMemory()
        let blobs = workspace.dictionary("blobs")
        try await blobs.setAll((0..<100).map { ("\($0)", [UInt8($0)]) })
        var count = 0
        #expect(throws: Enough.self) {
            try workspace.read { view in
                try view.forEachBytes(of: blobs, prefix: "1") { _, _ in
                    count += 1
                    if count == 3 { throw Enough() }
                }
            }
        }
        #expect(count == 3)
        let view = try workspace.readView()
        view.close()
        #expect(throws: RoostError.self) { try view.forEachBytes(of: blobs) { _, _ in } }
        try await workspace.close()
    }

    private func text(_ key: RawSpan) -> String {
        key.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}
