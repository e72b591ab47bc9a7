// Writes to a workspace until it is killed, and says on standard output what was acknowledged.
//
//     roost-crash-writer <path> <first number> <mode>
//
// Modes: `write`; `compact`, which compacts over and over beside it; `hold`, which opens the
// workspace, says so, and waits; `open`, which says how opening ends; `fill`, which writes until
// the disk is full, and then looks whether all that was written is there; `bank`, which moves money;
// `once`, which writes one number and ends at once;
// `faults-…`, which cuts the files of an open workspace (Faults.swift).

import Foundation
import Roost

@Sendable func say(_ line: String) {
    var line = line + "\n"
    line.withUTF8 { bytes in
        // One call a line, so that lines of several tasks stay whole.
        if write(1, bytes.baseAddress, bytes.count) < 0 { exit(3) }
    }
}

/// Writes until there is no space left, and ends the process with 0 where nothing was lost.
@Sendable func fill(_ workspace: Workspace) async throws {
    func check(_ workspace: Workspace, _ count: Int) throws {
        for number in 0..<count {
            let found = try workspace.dictionary("values")["\(number)", as: [UInt8].self]
            if found != [UInt8](repeating: UInt8(number % 251), count: 20_000) {
                say("lost \(number)")
                exit(4)
            }
        }
    }
    var count = 0
    do {
        while true {
            try await workspace.dictionary("values").set(
                [UInt8](repeating: UInt8(count % 251), count: 20_000), forKey: "\(count)")
            count += 1
        }
    } catch let error as RoostError { say("full \(error.code) after \(count)") }
    try check(workspace, count)
    do { try await workspace.close() } catch let error as RoostError { say("close \(error.code)") }
    let again = try await Workspace.open(
        at: workspace.path, configuration: .init(access: .readOnly))
    try check(again, count)
    say("kept all")
    exit(0)
}

let path = CommandLine.arguments[1]
let first = Int(CommandLine.arguments[2])!
let mode = CommandLine.arguments[3]

do {
    if mode.hasPrefix("faults-") { try await Faults.run(path, mode) }
    let workspace = try await Workspace.open(
        at: path, configuration: .init(memoryBudgetBytes: 1 << 16))
    say("ready")
    if mode == "hold" { while true { try await Task.sleep(for: .seconds(3600)) } }
    if mode == "open" { exit(0) }
    if mode == "once" {
        let numbers = workspace.dictionary("numbers")
        guard try numbers["last", default: 0] == first - 1 else { exit(4) }
        try await numbers.set(first, forKey: "last")
        say("\(first)")
        _exit(0)
    }
    if mode == "fill" { try await fill(workspace) }
    if mode == "bank" { try await Bank.run(workspace) }
    let values = workspace.dictionary("values")
    let pairs = workspace.dictionary("pairs")
    try await withThrowingTaskGroup(of: Void.self) { group in
        if mode == "compact" {
            group.addTask { while true { try await workspace.compact() } }
        }
        for task in 0..<3 {
            let durability: Durability = [.process, .interval(.milliseconds(5)), .synced][task]
            group.addTask {
                for number in first... {
                    let text = "\(number) " + String(repeating: "x", count: number % 300)
                    try await values.set(
                        text, forKey: "\(task)-\(number % 40)", durability: durability)
                    say("set \(task)-\(number % 40) \(number)")
                    // A put does not suspend: two such tasks would keep two threads from the others.
                    await Task.yield()
                }
            }
        }
        group.addTask {
            for number in first... {
                try await workspace.write(durability: number % 7 == 0 ? .synced : nil) { batch in
                    for key in 0..<8 { batch.set(number, forKey: "pair-\(key)", in: pairs) }
                    if number % 5 == 0 { batch.removeAll(in: pairs) }
                }
                say("pairs \(number)")
                await Task.yield()
            }
        }
        try await group.waitForAll()
    }
} catch let error as RoostError {
    say("error \(error.code)")
    exit(2)
}
