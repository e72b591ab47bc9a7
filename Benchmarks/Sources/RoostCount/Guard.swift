import Foundation

/// The counts that the repository holds to, one per operation.
struct Threshold: Codable {
    /// Instructions per operation; its key and value are there beforehand.
    var instructions: Int
    /// How many more are let pass: counts of one build repeat within one percent.
    var tolerancePercent: Int

    func allows(_ measured: Int) -> Bool {
        measured * 100 <= instructions * (100 + tolerancePercent)
    }

    func verdict(_ measured: Int) -> String {
        let percent = Double(measured - instructions) / Double(instructions) * 100
        let change = String(format: "%+.1f %%", percent)
        let remark = allows(measured) ? "" : ", too many"
        return "\(instructions) +\(tolerancePercent) %: \(change)\(remark)"
    }
}

/// Compares the instructions that each operation takes with the thresholds.
struct Guard {
    let path: String

    /// 0 where all are within their thresholds, 1 where one is not.
    func run(isUpdating: Bool) throws -> Int32 {
        let url = URL(fileURLWithPath: path)
        var thresholds = try JSONDecoder().decode(
            [String: Threshold].self, from: Data(contentsOf: url))
        let directory = NSTemporaryDirectory() + "/roost-count-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        defer {
            do { try FileManager.default.removeItem(atPath: directory) } catch {
                FileHandle.standardError.write(Data("could not remove \(directory)\n".utf8))
            }
        }
        _ = try Self.output(of: ownPath, ["prepare", directory])
        // valgrind 3.19 does not read Swift's debug information.
        let executable = directory + "/roost-count"
        try FileManager.default.copyItem(atPath: ownPath, toPath: executable)
        _ = try Self.output(of: "/usr/bin/env", ["strip", executable])
        var isWithin = true
        print("operation         instructions   threshold")
        for operation in CountedOperation.allCases {
            let measured = try instructions(of: operation, executable, directory)
            var threshold = thresholds[operation.rawValue]
            if isUpdating {
                threshold = Threshold(
                    instructions: measured, tolerancePercent: threshold?.tolerancePercent ?? 5)
                thresholds[operation.rawValue] = threshold
            }
            isWithin = threshold?.allows(measured) == true && isWithin
            let name = operation.rawValue.padding(toLength: 18, withPad: " ", startingAt: 0)
            let verdict = threshold?.verdict(measured) ?? "no threshold"
            print("\(name)\(String(format: "%12d", measured))   \(verdict)")
        }
        if isUpdating {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            try (encoder.encode(thresholds) + Data("\n".utf8)).write(to: url)
        }
        return isWithin ? 0 : 1
    }

    /// Instructions per operation: the difference of two runs, so that what every process does
    /// once is not counted.
    private func instructions(
        of operation: CountedOperation, _ executable: String, _ directory: String
    ) throws -> Int {
        let (shorter, longer) = operation.counts
        let first = try total(operation, shorter, executable, directory)
        let second = try total(operation, longer, executable, directory)
        return (second - first) / (longer - shorter)
    }

    private func total(
        _ operation: CountedOperation, _ count: Int, _ executable: String, _ directory: String
    ) throws -> Int {
        let output = try Self.output(
            of: "/usr/bin/env",
            [
                "valgrind", "--tool=cachegrind", "--cache-sim=no",
                "--cachegrind-out-file=/dev/null", executable, "run", operation.rawValue,
                String(count), directory,
            ])
        for line in output.split(separator: "\n") {
            guard let found = line.range(of: "refs:") else { continue }
            let digits = line[found.upperBound...].filter(\.isNumber)
            if let total = Int(digits) { return total }
        }
        throw CountError("valgrind said no count:\n\(output)")
    }

    private var ownPath: String {
        Bundle.main.executablePath ?? CommandLine.arguments[0]
    }

    /// What a program prints on both streams; throws unless its status is 0.
    private static func output(of program: String, _ arguments: [String]) throws -> String {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let text = String(decoding: data, as: UTF8.self)
        guard process.terminationStatus == 0 else {
            throw CountError("\(program) \(arguments.joined(separator: " ")):\n\(text)")
        }
        return text
    }
}
