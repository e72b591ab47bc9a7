// Counts instructions: runs one kind of operation a given number of times, or, as `guard`, runs
// itself so under valgrind and compares the counts with the thresholds in the repository.
//
// `main` is synchronous and waits for a task: valgrind 3.19 ends with a fault of its own in
// programs whose main thread ends before the others, as it does where `main` is `async`.

import Dispatch
import Foundation

let usage = """
    usage: roost-count guard THRESHOLDS.json [--update]
           roost-count prepare DIRECTORY
           roost-count run OPERATION COUNT DIRECTORY

    """

func runMain(_ arguments: [String]) async throws -> Int32 {
    switch (arguments.first, arguments.count) {
    case ("guard", 2), ("guard", 3):
        return try Guard(path: arguments[1]).run(isUpdating: arguments.last == "--update")
    case ("prepare", 2):
        try await Section.prepare(arguments[1])
        return 0
    case ("run", 4):
        guard let operation = CountedOperation(rawValue: arguments[1]),
            let count = Int(arguments[2])
        else { break }
        try await Section(operation: operation, count: count, directory: arguments[3])
            .run()
        return 0
    default: break
    }
    FileHandle.standardError.write(Data(usage.utf8))
    return 2
}

let arguments = Array(CommandLine.arguments.dropFirst())
let isDone = DispatchSemaphore(value: 0)
Task.detached {
    do {
        let status = try await runMain(arguments)
        if status != 0 { exit(status) }
    } catch {
        FileHandle.standardError.write(Data("roost-count: \(error)\n".utf8))
        exit(1)
    }
    isDone.signal()
}
isDone.wait()
