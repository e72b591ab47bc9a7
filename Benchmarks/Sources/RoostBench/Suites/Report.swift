import Foundation

/// What a figure is in.
enum FigureUnit: String, Codable, Sendable {
    case operationsPerSecond = "operations/s"
    case milliseconds = "ms"
    case microseconds = "us"
    case mebibytes = "MiB"
    /// Bytes written per byte that the user wrote.
    case factor = "x"
}

/// One round's figure.
struct Sample: Sendable {
    struct Place: Hashable, Sendable {
        var workload: String
        var clients = 1
        var durability = RowDurability.process
        /// `task` or `main actor`: where the calls come from.
        var caller = "task"
    }

    var place: Place
    var unit: FigureUnit
    var value: Double
    /// How many operations the figure is from, where they are fewer than the row says.
    var sampledOperations: Int?
}

struct Spread: Codable, Sendable {
    var median: Double
    var min: Double
    var max: Double

    init(_ values: [Double]) {
        self.median = middle(values)
        min = values.min() ?? 0
        max = values.max() ?? 0
    }
}

/// A row of the JSON file: one workload, engine, number of keys and of clients.
struct ReportRow: Codable, Sendable {
    var suite: String
    var workload: String
    var engine: String
    var keys: Int
    var clients: Int
    var durability: RowDurability
    var caller: String
    /// Where the figure is a rate.
    var opsPerSecond: Spread?
    var unit: FigureUnit
    /// The figure in `unit`; a rate's is that of `opsPerSecond`.
    var figure: Spread
    var rounds: Int
    /// This engine's median divided by Roost's of the same row; `nil` where Roost has none.
    var ratioToRoost: Double?
    var sampledOperations: Int?
}

struct Report: Codable, Sendable {
    struct Machine: Codable, Sendable {
        var processor: String
        var cores: Int
        var memoryMiB: Int
        var system: String
        var date: String
    }

    var machine: Machine
    /// What each engine was tuned to.
    var engines: [String: String]
    var rows: [ReportRow]
}

extension Report.Machine {
    static func current() -> Report.Machine {
        let information = ProcessInfo.processInfo
        var processor = "unknown"
        if let text = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("model name") }),
            let name = line.split(separator: ":").last
        {
            processor = name.trimmingCharacters(in: .whitespaces)
        }
        return Report.Machine(
            processor: processor, cores: information.activeProcessorCount,
            memoryMiB: Int(information.physicalMemory >> 20),
            system: information.operatingSystemVersionString,
            date: ISO8601DateFormatter().string(from: Date()))
    }
}

/// Gathers the samples of all rounds.
struct ReportRows {
    private struct Key: Hashable {
        var suite: String
        var engine: String
        var keys: Int
        var place: Sample.Place
    }

    private struct Gathered {
        var unit: FigureUnit
        var values: [Double] = []
        var sampledOperations: Int?
    }

    private var gathered: [Key: Gathered] = [:]
    private var order: [Key] = []

    mutating func add(_ samples: [Sample], suite: String, engine: String, keys: Int) {
        for sample in samples {
            let key = Key(suite: suite, engine: engine, keys: keys, place: sample.place)
            if gathered[key] == nil { order.append(key) }
            gathered[key, default: Gathered(unit: sample.unit)].values.append(sample.value)
            gathered[key]?.sampledOperations = sample.sampledOperations
        }
    }

    var rows: [ReportRow] {
        var roost: [Key: Double] = [:]
        for (key, figures) in gathered where key.engine == RoostEngine.name {
            roost[key] = median(figures.values)
        }
        return order.compactMap { key in
            guard let figures = gathered[key] else { return nil }
            var same = key
            same.engine = RoostEngine.name
            let figure = Spread(figures.values)
            let isRate = figures.unit == .operationsPerSecond
            return ReportRow(
                suite: key.suite, workload: key.place.workload, engine: key.engine, keys: key.keys,
                clients: key.place.clients, durability: key.place.durability,
                caller: key.place.caller, opsPerSecond: isRate ? figure : nil, unit: figures.unit,
                figure: figure, rounds: figures.values.count,
                ratioToRoost: roost[same].flatMap { $0 > 0 ? figure.median / $0 : nil },
                sampledOperations: figures.sampledOperations)
        }
    }
}

/// The median; by a name that does not stand in `Spread`.
private func middle(_ values: [Double]) -> Double { median(values) }
