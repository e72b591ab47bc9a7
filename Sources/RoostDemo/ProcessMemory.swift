import Foundation

/// The resident memory of this process, as the kernel counts it.
struct ProcessMemory: Codable {
    /// Anonymous and file-backed together.
    var totalBytes: UInt64
    /// The heap and the stacks: memory that is this process's alone.
    var anonymousBytes: UInt64
    /// Pages of mapped files, code included, which the kernel takes back when it needs them.
    var fileBytes: UInt64

    /// `nil` where the system does not say.
    static func current() -> ProcessMemory? {
        guard let status = FileManager.default.contents(atPath: "/proc/self/status") else {
            return nil
        }
        var figures: [Substring: UInt64] = [:]
        for line in String(decoding: status, as: UTF8.self).split(separator: "\n") {
            let words = line.split(whereSeparator: { $0 == ":" || $0 == "\t" || $0 == " " })
            guard words.count == 3, words[2] == "kB", let kibibytes = UInt64(words[1]) else {
                continue
            }
            figures[words[0]] = kibibytes << 10
        }
        guard let total = figures["VmRSS"], let anonymous = figures["RssAnon"],
            let file = figures["RssFile"]
        else { return nil }
        return ProcessMemory(totalBytes: total, anonymousBytes: anonymous, fileBytes: file)
    }
}
