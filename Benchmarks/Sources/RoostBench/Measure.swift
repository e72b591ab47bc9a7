import Foundation
import Roost

/// One measured row.
struct Row: Codable, Sendable {
    var workload: String
    var keys: Int
    var nanosecondsPerOperation: Double
    var opsPerSecond: Double { 1e9 / nanosecondsPerOperation }
}

/// Runs `body`, which does `count` operations, and gives the time of one.
func nanoseconds(
    per count: Int, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
) async rethrows -> Double {
    let clock = ContinuousClock()
    let begin = clock.now
    try await body()
    let duration = clock.now - begin
    let (seconds, attoseconds) = duration.components
    return (Double(seconds) * 1e9 + Double(attoseconds) / 1e9) / Double(count)
}

/// What all of this process's threads have had of the processors: other programs disturb it least.
func processSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/// What the kernel says this process has read from files by `read` and by page faults, where it
/// says so.
func bytesReadFromDisk() -> Int? {
    guard let text = try? String(contentsOfFile: "/proc/self/io", encoding: .utf8) else {
        return nil
    }
    for line in text.split(separator: "\n") where line.hasPrefix("read_bytes:") {
        return Int(line.split(separator: " ").last ?? "")
    }
    return nil
}

/// A field of /proc/self/status in KiB, such as `RssAnon`.
func memoryKiB(_ field: String) -> Int? {
    guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else {
        return nil
    }
    for line in text.split(separator: "\n") where line.hasPrefix("\(field):") {
        return Int(line.split(separator: " ").dropFirst().first ?? "")
    }
    return nil
}

func directorySizeBytes(_ path: String) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: path).reduce(0) { sum, name in
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
        return sum + (attributes[.size] as? Int ?? 0)
    }
}
