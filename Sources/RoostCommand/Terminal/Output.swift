import Foundation

/// Buffered writing to standard output or to a file.
///
/// - What was written is there for others only after `flush`.
final class Output {
    private let handle: FileHandle
    /// For messages.
    private let name: String
    private var buffer: [UInt8] = []
    private static let flushSizeBytes = 1 << 16

    /// Writes to the file at `path`, which is replaced; to standard output where it is `-`.
    init(path: String = "-") throws {
        name = path == "-" ? "standard output" : path
        guard path != "-" else {
            handle = .standardOutput
            return
        }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw Failure(.failed, "cannot write \(path): \(String(cString: strerror(errno)))")
        }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Without a line's end.
    func write(_ text: String) throws {
        buffer += text.utf8
        if buffer.count >= Self.flushSizeBytes { try flush() }
    }

    func writeLine(_ text: String) throws {
        buffer += text.utf8
        try endLine()
    }

    func writeLine(_ json: JSONValue) throws {
        json.write(to: &buffer)
        try endLine()
    }

    private func endLine() throws {
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count >= Self.flushSizeBytes { try flush() }
    }

    func flush() throws {
        guard !buffer.isEmpty else { return }
        do { try handle.write(contentsOf: Data(buffer)) } catch {
            throw Failure(.failed, "cannot write \(name): \(error.localizedDescription)")
        }
        buffer.removeAll(keepingCapacity: true)
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
