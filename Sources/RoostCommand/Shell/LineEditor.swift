import Foundation
import RoostIO
import Synchronization

/// Lines from a terminal with history and completion, by the system's own editor: libedit, or
/// readline, whichever is there; without either, and where standard input is no terminal, plain
/// lines.
///
/// The library is asked for when the program runs, so that building needs neither. Both have the same
/// calls. It blocks, so it has a thread of its own, and is never called from another.
actor LineEditor {
    typealias Completion = @Sendable (_ words: [String], _ word: String) -> [String]

    private typealias ReadLine =
        @convention(c) (UnsafePointer<CChar>) -> UnsafeMutablePointer<CChar>?
    private typealias TakeText = @convention(c) (UnsafePointer<CChar>) -> Int32
    private typealias Complete =
        @convention(c) (UnsafePointer<CChar>?, Int32, Int32) -> UnsafeMutablePointer<
            UnsafeMutablePointer<CChar>?
        >?

    private static let libraryNames = [
        "libedit.dylib", "libreadline.so.8", "libedit.so.2", "libreadline.so.7", "libreadline.so",
    ]

    private let thread = WorkerThread(name: "roost-shell")
    private let isTerminal: Bool
    private let readLine: ReadLine?
    private let addHistory: TakeText?
    private let writeHistory: TakeText?
    private let historyFile: String?
    /// Where the library has the terminal.
    private var endings: TerminalEndings?
    /// What was read behind the last plain line.
    private var pending: ArraySlice<UInt8> = []
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// - Parameter historyFile: Where the lines are kept, readable by the user alone; `nil` for nowhere.
    init(historyFile: String?, completing complete: @escaping Completion) {
        self.historyFile = historyFile
        let isTerminal = isatty(STDIN_FILENO) == 1
        self.isTerminal = isTerminal
        let library = isTerminal ? Self.open() : nil
        func symbol<Function>(_ name: String, as type: Function.Type) -> Function? {
            // The symbol has the type that both libraries' headers give it.
            library.flatMap { dlsym($0, name) }.map { unsafeBitCast($0, to: Function.self) }
        }
        readLine = symbol("readline", as: ReadLine.self)
        addHistory = symbol("add_history", as: TakeText.self)
        writeHistory = symbol("write_history", as: TakeText.self)
        if let historyFile, let read = symbol("read_history", as: TakeText.self) {
            _ = read(historyFile)
        }
        if let library, let catching = dlsym(library, "rl_catch_signals") {
            // It would look at a signal at the next key only: the signal comes to another thread than its own.
            catching.assumingMemoryBound(to: Int32.self).pointee = 0
            endings = TerminalEndings()
        }
        guard let library, let hook = dlsym(library, "rl_attempted_completion_function") else {
            return
        }
        completion.withLock {
            $0 = Completer(library: UInt(bitPattern: library), complete: complete)
        }
        // A word is what `ShellLine` takes for one. The library keeps the texts, so they are never freed.
        for (name, characters) in [
            ("rl_completer_word_break_characters", " \t"), ("rl_completer_quote_characters", "\""),
        ] {
            dlsym(library, name)?.assumingMemoryBound(to: UnsafeMutablePointer<CChar>?.self)
                .pointee = strdup(characters)
        }
        let matches: Complete = { word, begin, _ in LineEditor.matches(word, at: Int(begin)) }
        hook.assumingMemoryBound(to: Complete?.self).pointee = matches
    }

    /// The next line; `nil` at the end of the input. An empty `prompt` is for input that is no
    /// terminal.
    ///
    /// - Throws: `Failure` where the line is not UTF-8, and the one after it can be asked for; where standard input
    ///   cannot be read, unless it is a terminal, which has gone then.
    func next(prompt: String) throws -> String? {
        guard let readLine else {
            if isTerminal {
                FileHandle.standardOutput.write(Data(prompt.utf8))
            }
            return try plainLine()
        }
        guard let line = readLine(prompt) else { return nil }
        defer { free(line) }
        guard let text = String(validatingCString: line) else { throw Self.notUnicode }
        if !text.allSatisfy(\.isWhitespace) {
            _ = addHistory?(text)
            // At each line: Control-C and a terminal that is closed end the shell where it is.
            keepHistory()
        }
        return text
    }

    /// Without its end. What comes is taken as it comes, as a program may wait for each answer.
    private func plainLine() throws -> String? {
        var line: [UInt8] = []
        while true {
            if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                line += pending[..<end]
                pending = pending[(end + 1)...]
                break
            }
            line += pending
            pending = []
            pending = try chunk()[...]
            guard !pending.isEmpty else {
                if line.isEmpty { return nil }
                break
            }
        }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard let text = String(validating: line, as: UTF8.self) else { throw Self.notUnicode }
        return text
    }

    /// Some bytes of standard input; none at its end.
    private func chunk() throws -> [UInt8] {
        do {
            return try Descriptor.read(upTo: 4096, from: STDIN_FILENO, named: "standard input")
        } catch {
            guard isTerminal else { throw error }
            return []
        }
    }

    private static var notUnicode: Failure { Failure(.usage, "the line is not UTF-8") }

    /// Keeps the lines for the next shell.
    private func keepHistory() {
        guard let historyFile, let writeHistory else { return }
        // Keys may be nobody else's business.
        let mask = umask(0o077)
        defer { umask(mask) }
        _ = writeHistory(historyFile)
    }

    private static func open() -> UnsafeMutableRawPointer? {
        for name in libraryNames {
            if let library = dlopen(name, RTLD_NOW) { return library }
        }
        return nil
    }

    /// What the library frees: what it puts in the word's place, the words to show, and a `nil`.
    ///
    /// - Parameter begin: Where the word begins in the line, in bytes, behind a quote that opens it.
    private static func matches(
        _ word: UnsafePointer<CChar>?, at begin: Int
    ) -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
        guard let word, let completer = completion.withLock({ $0 }) else { return nil }
        let library = UnsafeMutableRawPointer(bitPattern: completer.library)
        // Else the library offers the names of files where there is no match.
        dlsym(library, "rl_attempted_completion_over")?.assumingMemoryBound(to: Int32.self)
            .pointee = 1
        let buffer = dlsym(library, "rl_line_buffer")?
            .assumingMemoryBound(to: UnsafePointer<CChar>?.self).pointee
        let line = buffer.map { String(cString: $0) } ?? ""
        let words = line.split(separator: " ").map(String.init)
        let isQuoted = begin > 0 && Array(line.utf8.prefix(begin)).last == UInt8(ascii: "\"")
        let typed = String(cString: word)
        let text = isQuoted ? ShellLine.withoutEscapes(typed) : typed
        let found = completer.complete(words, text)
        guard let replacement = ShellLine.completion(of: text, isQuoted: isQuoted, among: found)
        else { return nil }
        let list = [replacement.text] + (replacement.words.count > 1 ? replacement.words : [])
        let size = (list.count + 1) * MemoryLayout<UnsafeMutablePointer<CChar>?>.stride
        guard let memory = malloc(size) else { return nil }
        let result = memory.bindMemory(
            to: UnsafeMutablePointer<CChar>?.self, capacity: list.count + 1)
        for (index, match) in list.enumerated() { result[index] = strdup(match) }
        result[list.count] = nil
        return result
    }
}

/// The library calls a function without a context, so what completes is the program's.
private struct Completer: Sendable {
    /// The library's handle, which is never closed.
    var library: UInt
    var complete: LineEditor.Completion
}

private let completion = Mutex<Completer?>(nil)
