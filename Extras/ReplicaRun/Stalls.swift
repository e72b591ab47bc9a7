import Foundation

/// When a task that only sleeps was woken late: what the machine did to the whole process at that time, which is
/// not the copier's doing. Lines of a file, each with a begin and an end in milliseconds since 1970.
struct Stalls {
    private static let nap: UInt64 = 10
    private static let noted: UInt64 = 50
    private let task: Task<Void, Never>

    init(path: String) {
        task = Task.detached {
            var begin = ReplicaRun.milliseconds
            while !Task.isCancelled {
                do { try await Task.sleep(for: .milliseconds(Int64(Self.nap))) } catch { return }
                let end = ReplicaRun.milliseconds
                if end > begin + Self.noted { Self.note("\(begin) \(end)\n", path) }
                begin = end
            }
        }
    }

    func end() { task.cancel() }

    private static func note(_ line: String, _ path: String) {
        guard let file = fopen(path, "a") else { ReplicaRun.fail("\(path) cannot be written") }
        fputs(line, file)
        fclose(file)
    }

    static func read(_ path: String) -> [ClosedRange<UInt64>] {
        // There is no file where nothing was held up.
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return [] }
        return text.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: " ").compactMap { UInt64($0) }
            return parts.count == 2 && parts[0] <= parts[1] ? parts[0]...parts[1] : nil
        }
    }
}

extension ClosedRange<UInt64> {
    var length: UInt64 { upperBound - lowerBound }
}
