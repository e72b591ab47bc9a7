import Foundation
import Roost
import RoostTestSupport
import Testing

/// What this version writes, byte for byte: bytes on disk that a later version has to read. A
/// change here is a change of the format.
@Suite struct ValueFixtureTests {
    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// Kind and payload of what is stored under `key`.
    private func stored(_ key: String, _ values: WorkspaceDictionary) throws -> String {
        let value = try #require(try values.storedValue(forKey: key))
        return hex([value.kind] + value.payload)
    }

    private func expect<Value: BinaryCodable & Equatable & Sendable>(
        _ value: Value, _ bytes: String, _ values: WorkspaceDictionary
    ) async throws {
        try await values.set(value, forKey: "key")
        #expect(try stored("key", values) == bytes, "\(Value.self)")
        #expect(try values["key", as: Value.self] == value, "\(Value.self)")
    }

    @Test func valuesOfFixedForm() async throws {
        let workspace = try await Workspace.inMemory()
        let values = workspace.dictionary("values")
        try await expect(true, "0101", values)
        try await expect(-2, "02feffffffffffffff", values)
        try await expect(Int8(-2), "03fe", values)
        try await expect(Int16(-2), "04feff", values)
        try await expect(Int32(-2), "05feffffff", values)
        try await expect(Int64(-2), "06feffffffffffffff", values)
        try await expect(UInt(258), "070201000000000000", values)
        try await expect(UInt8(2), "0802", values)
        try await expect(UInt16(258), "090201", values)
        try await expect(UInt32(258), "0a02010000", values)
        try await expect(UInt64(258), "0b0201000000000000", values)
        try await expect(Float(0.5), "0c0000003f", values)
        try await expect(-0.5, "0d000000000000e0bf", values)
        try await expect("é", "0ec3a9", values)
        try await expect(Data([1, 255]), "0f01ff", values)
        try await expect([UInt8]([1, 255]), "1001ff", values)
        try await expect(Int128(-2), "11fe" + String(repeating: "ff", count: 15), values)
        try await expect(UInt128(258), "120201" + String(repeating: "00", count: 14), values)
        try await workspace.close()
    }

    @Test func valuesThatAreCoded() async throws {
        let workspace = try await Workspace.inMemory()
        let values = workspace.dictionary("values")
        try await expect(Point(x: 1, y: -2), "2008021003", values)
        let profile = Profile(name: "Ada", age: 36, tags: ["x"])
        try await values.set(profile, forKey: "roost")
        let roost = try stored("roost", values)
        #expect(roost == Self.roostProfile)
        try await values.set(profile, forKey: "json", coder: .json)
        let json = #"[{"age":36,"name":"Ada","tags":["x"]}]"#
        #expect(try stored("json", values) == "21" + hex(Array(json.utf8)))
        try await values.set(Label(text: "a"), forKey: "list", coder: .propertyList)
        let list = try stored("list", values)
        #expect(list == Self.propertyListLabel)
        try await workspace.close()
    }

    @Test func valuesWithADeadlineAndAVersion() async throws {
        let time = SettableTime(Date(timeIntervalSince1970: 1_000_000_000))
        let workspace = try await Workspace.inMemory(configuration: .init(clock: .settable(time)))
        let values = workspace.dictionary("values")
        // The example of docs/FORMAT.md.
        try await values.set(5, forKey: "key", expiresAt: time.now)
        try await values.set(5, forKey: "key", expiresIn: .milliseconds(1))
        #expect(try stored("key", values) == "82" + "0110a5d4e8000000" + "0500000000000000")
        values.migrating(from: Int.self, to: Point.self, version: 300) { Point(x: $0, y: 0) }
        try await values.set(Point(x: 1, y: -2), forKey: "point")
        #expect(try stored("point", values) == "60" + "ac02" + "08021003")
        try await values.set(Point(x: 1, y: -2), forKey: "point", expiresIn: .milliseconds(1))
        #expect(try stored("point", values) == "e0" + "0110a5d4e8000000" + "ac02" + "08021003")
        #expect(try values["point", as: Point.self] == Point(x: 1, y: -2))
        try await workspace.close()
    }

    @Test func whatIsWrittenHereIsReadThere() async throws {
        // From the bytes alone, as a later version finds them.
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: path)
            let values = workspace.dictionary("values")
            try await workspace.write { batch in
                for (key, text) in [
                    ("roost", Self.roostProfile), ("list", Self.propertyListLabel),
                    ("point", "2008021003"), ("int", "02feffffffffffffff"),
                ] {
                    let bytes = stride(from: 0, to: text.count, by: 2).map { offset in
                        UInt8(text.dropFirst(offset).prefix(2), radix: 16)!
                    }
                    batch.setStored(
                        StoredValue(kind: bytes[0], payload: Array(bytes.dropFirst())), forKey: key,
                        in: values)
                }
            }
            try await workspace.close()
            let reopened = try await Workspace.open(at: path)
            let read = reopened.dictionary("values")
            #expect(
                try read["roost", as: Profile.self] == Profile(name: "Ada", age: 36, tags: ["x"]))
            #expect(try read["list", as: Label.self] == Label(text: "a"))
            #expect(try read["point", as: Point.self] == Point(x: 1, y: -2))
            #expect(try read["int", as: Int.self] == -2)
            try await reopened.close()
        }
    }

    static let roostProfile = fixture("roost")
    static let propertyListLabel = fixture("property-list")

    /// A line of Fixtures/values.txt: a name, and kind and payload as hexadecimal digits.
    private static func fixture(_ name: String) -> String {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Fixtures/values.txt")
        do {
            let text = try String(contentsOf: file, encoding: .utf8)
            for line in text.split(separator: "\n") {
                let parts = line.split(separator: " ")
                if parts.count == 2, parts[0] == name { return String(parts[1]) }
            }
            Issue.record("Fixtures/values.txt has no \(name)")
        } catch { Issue.record(error) }
        return ""
    }
}
