import Foundation
import Roost
import RoostInspector

// An app with its inspector: makes a store, or serves one and does what the lines of its input say.
//
//     inspector-sample make PATH KEYS         KEYS numbers, 2,000 objects, some settings
//     inspector-sample serve PATH [--write]   prints the link; "set DICTIONARY KEY TEXT" commits and prints when
//
// DICTIONARY and KEY are written as in addresses, so that they may have spaces.

enum Color: String, Codable { case red, green, blue }

struct Post: Codable, Identifiable, Sendable {
    struct Author: Codable, Sendable { var name: String }
    var id: Int
    var title: String
    var color: Color
    var priority: Int
    var tags: [String]
    var author: Author
    var due: Date?
}

extension Post: Indexed {
    static var indexes: [Index<Post>] { [Index("priority", \.priority)] }
}

func make(_ path: String, keyCount: Int) async throws {
    let workspace = try await Workspace.open(at: path, configuration: .init(durability: .process))
    let numbers = workspace.dictionary("numbers")
    var begin = 0
    while begin < keyCount {
        let end = min(keyCount, begin + 10_000)
        let width = 9
        try await numbers.setAll(
            (begin..<end).map { index in
                let digits = String(index)
                let key = "n" + String(repeating: "0", count: width - digits.count) + digits
                return (key, index &* 2_654_435_761)
            })
        begin = end
    }
    let posts = workspace.repository(of: Post.self)
    let colors = [Color.red, .green, .blue]
    for index in 0..<2000 {
        try await posts.save(
            Post(
                id: index, title: "Post \(index)", color: colors[index % 3], priority: index % 200,
                tags: index % 2 == 0 ? ["swift"] : [], author: .init(name: "Author \(index % 7)"),
                due: index % 5 == 0 ? Date(timeIntervalSince1970: Double(index) * 86400) : nil))
    }
    let settings = workspace.dictionary("settings")
    try await settings.set(0.5, forKey: "volume")
    try await settings.set("dark", forKey: "ui.theme")
    try await settings.set(true, forKey: "ui.isFirstLaunch")
    try await settings.set([UInt8](0..<255), forKey: "token", expiresIn: .seconds(86400))
    try await workspace.compact()
    try await settings.set(Date(timeIntervalSince1970: 1.8e9), forKey: "launched")
    try await workspace.close()
}

func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

/// What comes on standard input, waited for on a thread that may block.
func inputLines() -> AsyncStream<String> {
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    Thread {
        while let line = readLine() { continuation.yield(line) }
        continuation.finish()
    }.start()
    return lines
}

func serve(_ path: String, allowsWriting: Bool) async throws {
    let workspace = try await Workspace.open(at: path)
    let posts = workspace.repository(of: Post.self)
    let inspector = Inspector(workspace, configuration: .init(allowsWriting: allowsWriting)) {
        link in say(link)
    }
    let running = Task { try await inspector.run() }
    for await line in inputLines() {
        let words = line.split(separator: " ", maxSplits: 3).map(String.init)
        guard words.count == 4, words[0] == "set", let name = words[1].removingPercentEncoding,
            let key = words[2].removingPercentEncoding
        else { continue }
        try await workspace.dictionary(name).set(words[3], forKey: key)
        say("committed \(Date().timeIntervalSince1970 * 1000)")
    }
    running.cancel()
    _ = await running.result
    withExtendedLifetime(posts) {}
    try await workspace.close()
}

let arguments = CommandLine.arguments
switch (arguments.dropFirst().first, arguments.count) {
case ("make", 4):
    guard let count = Int(arguments[3]) else { fatalError("KEYS is a number") }
    try await make(arguments[2], keyCount: count)
case ("serve", 3...):
    try await serve(arguments[2], allowsWriting: arguments.contains("--write"))
default:
    print("inspector-sample make PATH KEYS | serve PATH [--write]")
    exit(2)
}
