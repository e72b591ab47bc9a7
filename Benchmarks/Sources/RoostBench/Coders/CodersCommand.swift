import ArgumentParser
import Foundation
import RoostCoding

/// Encodes and decodes the same values by several coders.
struct Coders: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Time and bytes of coders: Roost's, JSON, binary plist, protobuf.")

    @Option(help: "Rounds; each runs all coders in turn, and medians are printed.")
    var rounds = 25
    @Option(help: "Milliseconds for each measurement of a round.")
    var milliseconds = 4
    @Option(help: "Only the coder of this name.")
    var only: String?
    @Flag(help: "Other values of the same shapes, which nothing was chosen for.")
    var variants = false
    @Option(help: "Write the rows as JSON to this file.")
    var json: String?

    func run() throws {
        let all = try variants ? CoderVariants.samples() : CoderSample.all()
        var samples = all.filter { only == nil || $0.coder == only }
        for sample in samples { try sample.check() }
        for _ in 0..<rounds {
            for index in samples.indices {
                try samples[index].measure(nanoseconds: Double(milliseconds) * 1e6)
            }
        }
        let rows = samples.map(\.row)
        for row in rows { print(row.line(comparedWith: rows)) }
        if let json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            try encoder.encode(rows).write(to: URL(fileURLWithPath: json))
        }
    }
}

/// One coder's figures for one value.
struct CoderRow: Codable {
    var coder: String
    var workload: String
    var bytes: Int
    var encodeNanoseconds: Double
    var decodeNanoseconds: Double

    /// The figures, and how many times as fast as JSON, and which part of its size, they are.
    func line(comparedWith rows: [CoderRow]) -> String {
        let figures = String(
            format: "%@ %@ %8d bytes  encode %10.0f ns  decode %10.0f ns",
            workload.padding(toLength: 14, withPad: " ", startingAt: 0),
            coder.padding(toLength: 22, withPad: " ", startingAt: 0), bytes, encodeNanoseconds,
            decodeNanoseconds)
        guard let json = rows.first(where: { $0.coder == "JSON" && $0.workload == workload }) else {
            return figures
        }
        return figures
            + String(
                format: "   %6.1fx %6.1fx  %.2f", json.encodeNanoseconds / encodeNanoseconds,
                json.decodeNanoseconds / decodeNanoseconds, Double(bytes) / Double(json.bytes))
    }
}
