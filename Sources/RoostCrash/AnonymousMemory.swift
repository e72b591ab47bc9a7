import Foundation
import Synchronization

/// The process's memory that no file is behind.
enum AnonymousMemory {
    /// Zero where the system does not say.
    static var bytes: Int {
        guard let status = FileManager.default.contents(atPath: "/proc/self/status") else {
            return 0
        }
        for line in String(decoding: status, as: UTF8.self).split(separator: "\n")
        where line.hasPrefix("RssAnon:") {
            return line.split(separator: " ").compactMap { Int($0) }.first.map { $0 << 10 } ?? 0
        }
        return 0
    }
}

/// Set once, when tasks are to end.
final class Stop: Sendable {
    private let flag = Atomic<Bool>(false)
    var isSet: Bool { flag.load(ordering: .acquiring) }
    func set() { flag.store(true, ordering: .releasing) }
}
