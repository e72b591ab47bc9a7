import Foundation

/// Buffered writing to standard output or to a file.
///
/// - What a terminal would take for a command to it is escaped where standard output is one; a file or a
///   program gets every byte.
/// - What was written is there for others only after `flush`, in a file only after `finish`.
final class Output {
    private let handle: FileHandle
    /// `nil` for standard output.
    private let file: OutputFile?
    private let isTerminal: Bool
    /// For messages.
    private let name: String
    private var buffer: [UInt8] = []
    private static let flushSizeBytes = 1 << 16

    /// Writes to the file at `path`, which `finish` replaces; to standard output where it is `-`.
    init(path: String = "-") throws {
        name = path == "-" ? "standard output" : path
        guard path != "-" else {
            handle = .standardOutput
            file = nil
            isTerminal = isOutputTerminal
            return
        }
        let file = try OutputFile(path: path)
        self.file = file
        handle = file.handle
        isTerminal = false
    }

    /// Without a line's end.
    func write(_ text: String) throws {
        append(text)
        if buffer.count >= Self.flushSizeBytes { try flush() }
    }

    func writeLine(_ text: String) throws {
        append(text)
        try endLine()
    }

    private func append(_ text: String) {
        buffer += (isTerminal ? visible(text, keepsLines: true) : text).utf8
    }

    func writeLine(_ json: JSONValue) throws {
        if isTerminal { return try writeLine(json.text) }
        json.write(to: &buffer)
        try endLine()
    }

    private func endLine() throws {
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count >= Self.flushSizeBytes { try flush() }
    }

    func flush() throws {
        guard !buffer.isEmpty else { return }
        try Descriptor.write(buffer, to: handle.fileDescriptor, named: name)
        buffer.removeAll(keepingCapacity: true)
    }

    /// Flushes what is left; a file has its name from here on.
    func finish() throws {
        try flush()
        try file?.complete()
    }

    /// Writes lines to standard output.
    static func write(_ lines: [String]) throws {
        let output = try Output()
        for line in lines { try output.writeLine(line) }
        try output.flush()
    }

    static func write(_ json: JSONValue) throws {
        let output = try Output()
        try output.writeLine(json)
        try output.flush()
    }
}

/// A text without what would move a terminal's cursor, or say something to it.
///
/// - Parameter keepsLines: Whether a line's end and a tab stay.
func visible(_ text: String, keepsLines: Bool = false) -> String {
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    var shown = ""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\n", "\t": shown += keepsLines ? String(scalar) : scalar == "\n" ? "\\n" : "\\t"
        case _ where isControl(scalar): shown += "\\u{\(String(scalar.value, radix: 16))}"
        default: shown.unicodeScalars.append(scalar)
        }
    }
    return shown
}

private func isControl(_ scalar: Unicode.Scalar) -> Bool {
    // Format characters turn the direction of what follows.
    switch scalar.value {
    case 0x202a...0x202e, 0x2066...0x2069: true
    default: scalar.properties.generalCategory == .control
    }
}

/// Whether what is written to standard output is shown by a terminal.
var isOutputTerminal: Bool { isatty(FileHandle.standardOutput.fileDescriptor) == 1 }
