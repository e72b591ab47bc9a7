import Foundation
import Roost
import RoostTestSupport
import Testing

private struct Point: BinaryCodable, Equatable {
    var x: Int

    init(x: Int) { self.x = x }
    init(from reader: inout BinaryReader) throws { x = try reader.field(1) }
    func encode(into writer: inout BinaryWriter) { writer.field(1, x) }
}

private enum Theme: String, Codable { case light, dark }

@Suite struct RoundTripTests {
    @Test func linesOfJSONComeBackAsTheyWere() async throws {
        let values = [
            "1", "-7", "9223372036854775807", "-9223372036854775808", "18446744073709551616", "1.5",
            "-0.0", "1e+300", "0.1000000000000000055511151231257827", "1e400", "true", "false",
            "null", #""text \"é\" \n""#, #""""#, "[]", "{}", "[1,2.50,null]",
            #"{"b":1,"a":{"c":[true]}}"#, #"{"$unknown":1}"#, #"{"$data":"AA==","more":1}"#,
        ]
        let input = lines(0..<values.count) { values[$0] }
        try await withTemporaryDirectory { path in
            let imported = try await Tool.run("import", "\(path)/w", input: input)
            #expect(imported.status == 0, "\(imported.errors)")
            let exported = try await Tool.run("export", "\(path)/w")
            #expect(exported.status == 0)
            // Keys come back in order; nothing else may differ.
            let expected = input.split(separator: "\n").map(String.init)
            #expect(exported.lines.sorted() == expected.sorted())
        }
    }

    @Test func everyStoredKindSurvivesExportAndImport() async throws {
        try await withTemporaryDirectory { path in
            try await Self.fill(at: "\(path)/first")
            let first = try await Tool.run("export", "\(path)/first", "\(path)/first.jsonl")
            #expect(first.status == 0, "\(first.errors)")
            let imported = try await Tool.run("import", "\(path)/second", "\(path)/first.jsonl")
            #expect(imported.status == 0, "\(imported.errors)")
            let second = try await Tool.run("export", "\(path)/second")
            let written = try String(contentsOfFile: "\(path)/first.jsonl", encoding: .utf8)
            #expect(second.output == written)
            try await Self.check(at: "\(path)/second")
        }
    }

    private static let date = Date(timeIntervalSince1970: 12.5)

    private static func fill(at path: String) async throws {
        let workspace = try await Workspace.open(at: path)
        let values = workspace.dictionary("kinds é")
        try await workspace.write { batch in
            batch.set(true, forKey: "bool", in: values)
            batch.set(Int8.min, forKey: "int8", in: values)
            batch.set(UInt64.max, forKey: "uint64", in: values)
            batch.set(Int128.min, forKey: "int128", in: values)
            batch.set(Float(0.1), forKey: "float", in: values)
            batch.set(-Float.infinity, forKey: "minus infinity", in: values)
            batch.set(Double(nan: 5, signaling: false), forKey: "nan", in: values)
            batch.set(Double.nan, forKey: "plain nan", in: values)
            batch.set(Double.leastNonzeroMagnitude, forKey: "least", in: values)
            batch.set("text", forKey: "a\0b", in: values)
            batch.set(Data([0, 255]), forKey: "data", in: values)
            batch.set([UInt8](0...255), forKey: "bytes", in: values)
            batch.set(Point(x: -3), forKey: "binary", in: values)
            batch.set(date, forKey: "date", in: values)
            batch.set(Theme.dark, forKey: "json text", in: values)
            batch.set(["$data": 5] as [String: Int?], forKey: "like a wrapper", in: values)
        }
        try await workspace.close()
    }

    private static func check(at path: String) async throws {
        let workspace = try await Workspace.open(at: path)
        let values = workspace.dictionary("kinds é")
        #expect(try values["bool", as: Bool.self] == true)
        #expect(try values["int8", as: Int8.self] == .min)
        #expect(try values["uint64", as: UInt64.self] == .max)
        #expect(try values["int128", as: Int128.self] == .min)
        #expect(try values["float", as: Float.self] == 0.1)
        #expect(try values["minus infinity", as: Float.self] == -.infinity)
        #expect(
            try values["nan", as: Double.self]?.bitPattern
                == Double(nan: 5, signaling: false).bitPattern)
        #expect(try values["plain nan", as: Double.self]?.isNaN == true)
        #expect(try values["least", as: Double.self] == .leastNonzeroMagnitude)
        #expect(try values["a\0b", as: String.self] == "text")
        #expect(try values["data", as: Data.self] == Data([0, 255]))
        #expect(try values["bytes", as: [UInt8].self] == [UInt8](0...255))
        #expect(try values["binary", as: Point.self] == Point(x: -3))
        #expect(try values["date", as: Date.self] == date)
        #expect(try values["json text", as: Theme.self] == .dark)
        #expect(try values["like a wrapper", as: [String: Int?].self] == ["$data": 5])
        try await workspace.close()
    }

    @Test func importedValuesAreReadAsAProgramExpects() async throws {
        struct Package: Codable, Equatable {
            var version: String
            var sizes: [Int]
        }
        let input = lines(0..<4) {
            ["7", "0.5", #""text""#, #"{"version":"1","sizes":[1,2]}"#][$0]
        }
        try await withTemporaryDirectory { path in
            #expect(try await Tool.run("import", "\(path)/w", "-", input: input).status == 0)
            let workspace = try await Workspace.open(at: "\(path)/w")
            let values = workspace.dictionary("d")
            #expect(try values["k0", as: Int.self] == 7)
            #expect(try values["k1", as: Double.self] == 0.5)
            #expect(try values["k2", as: String.self] == "text")
            #expect(try values["k3", as: Package.self] == Package(version: "1", sizes: [1, 2]))
            try await workspace.close()
        }
    }
}
