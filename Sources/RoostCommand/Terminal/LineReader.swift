import Foundation
import RoostFormat

/// Reads a file, or standard input, line by line; holds one line and a chunk in memory.
final class LineReader {
    /// Of the line last given, counted from one.
    private(set) var lineNumber = 0
    /// Bytes taken so far.
    private(set) var offsetBytes: UInt64 = 0
    /// `nil` where the size is not known ahead.
    let sizeBytes: UInt64?

    private let handle: FileHandle
    /// For messages.
    private let name: String
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false

    private static let chunkSizeBytes = 1 << 18
    /// A text of the largest size of which each byte is escaped as `\u0001`, with its key, and room for the rest.
    static let maximumLineSizeBytes = 6 * (Limits.valueSizeBytes + Limits.keySizeBytes) + 1 << 20

    /// `-` is standard input.
    init(path: String) throws {
        name = path == "-" ? "standard input" : path
        guard path != "-" else {
            handle = .standardInput
            sizeBytes = nil
            return
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Failure(.usage, "cannot read \(path): \(String(cString: strerror(errno)))")
        }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
            throw Failure(.usage, "cannot read \(path): it is a directory")
        }
        sizeBytes = status.st_mode & S_IFMT == S_IFREG ? UInt64(status.st_size) : nil
    }

    /// Calls `body` with the next line, without its end; `nil` after the last.
    func withNextLine<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result? {
        var searched = start
        while true {
            if let end = newline(from: searched) { return try give(upTo: end, skipping: 1, body) }
            if isAtEnd {
                guard start < buffer.count else { return nil }
                return try give(upTo: buffer.count, skipping: 0, body)
            }
            searched = buffer.count - start
            try readChunk()
        }
    }

    private func give<Result>(
        upTo end: Int, skipping: Int, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        let begin = start
        start = end + skipping
        lineNumber += 1
        offsetBytes += UInt64(start - begin)
        return try buffer.withUnsafeBytes { bytes in
            let line = bytes[begin..<end]
            guard lineNumber == 1 else { return try body(.init(rebasing: line)) }
            if let reason = ByteOrderMark.refusal(of: line) {
                throw Failure(.usage, "line 1: \(reason)")
            }
            return try body(.init(rebasing: line.dropFirst(ByteOrderMark.sizeBytes(in: line))))
        }
    }

    private func newline(from begin: Int) -> Int? {
        buffer.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, begin < bytes.count,
                let found = memchr(base + begin, Int32(UInt8(ascii: "\n")), bytes.count - begin)
            else { return nil }
            return UnsafeRawPointer(found) - base
        }
    }

    /// Moves what is left to the buffer's begin and reads on after it.
    private func readChunk() throws {
        buffer.removeFirst(start)
        start = 0
        guard buffer.count <= Self.maximumLineSizeBytes else {
            throw Failure(.usage, "line \(lineNumber + 1): longer than any record can be")
        }
        // Longer lines in longer steps, so that reading one stays linear.
        let count = max(Self.chunkSizeBytes, buffer.count)
        let chunk = try Descriptor.read(upTo: count, from: handle.fileDescriptor, named: name)
        isAtEnd = chunk.isEmpty
        buffer.append(contentsOf: chunk)
    }
}
