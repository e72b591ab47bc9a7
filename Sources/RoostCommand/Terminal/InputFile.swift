import Foundation
import Synchronization

/// Files that are read whole: pipes and devices too, as a shell's `<(…)` and /dev/stdin are.
enum InputFile {
    /// A pipe gives its bytes once, and a command that opens its workspace several times asks for its key each time.
    private static let piped = Mutex<[String: Data]>([:])

    /// What holds a key or a passphrase is not longer; /dev/zero, named by mistake, has no end.
    private static let secretSizeLimitBytes = 1 << 20

    /// The whole of a file; a regular one may be mapped.
    ///
    /// - Throws: `Failure` where it cannot be read, `ValidationError` where `path` is an address.
    static func contents(of path: String) throws -> Data { try contents(of: path, limitBytes: nil) }

    /// The whole of a file that holds a key or a passphrase.
    ///
    /// - Throws: as `contents(of:)`; `Failure` where it is too long to be one.
    static func shortContents(of path: String) throws -> Data {
        let data = try contents(of: path, limitBytes: secretSizeLimitBytes)
        guard data.count <= secretSizeLimitBytes else {
            throw Failure(.usage, "\(path): too long for a key or a passphrase")
        }
        return data
    }

    /// - Parameter limitBytes: of a pipe or a device one byte more than this is read at most.
    private static func contents(of path: String, limitBytes: Int?) throws -> Data {
        try refuseAddress(path)
        if let known = piped.withLock({ $0[path] }) { return known }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Failure(.usage, "cannot read \(path): \(String(cString: strerror(errno)))")
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
            throw Failure(.usage, "cannot read \(path): it is a directory")
        }
        do {
            if status.st_mode & S_IFMT == S_IFREG {
                return try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
            }
            // A call may give less than is asked for.
            var data = Data()
            while limitBytes.map({ data.count <= $0 }) ?? true {
                let piece = try handle.read(
                    upToCount: limitBytes.map { $0 + 1 - data.count } ?? 1 << 20)
                guard let piece, !piece.isEmpty else { break }
                data.append(piece)
            }
            piped.withLock { $0[path] = data }
            return data
        } catch { throw Failure(.usage, "cannot read \(path): \(error.localizedDescription)") }
    }

    /// The first line of a file, which is a secret.
    ///
    /// - Throws: as `contents`; `Failure` where the line is empty, or is not UTF-8: as a text it would be the same
    ///   as others.
    static func secret(in path: String) throws -> String {
        let line = try shortContents(of: path).prefix { $0 != UInt8(ascii: "\n") }
        guard let text = String(validating: line, as: UTF8.self) else {
            throw Failure(.usage, "\(path): its first line is not UTF-8")
        }
        let secret = text.prefix { !$0.isNewline }
        guard !secret.isEmpty else { throw Failure(.usage, "\(path): its first line is empty") }
        return String(secret)
    }

    /// What an environment variable names; `nil` where it is empty, as where there is none.
    static func path(inVariable name: String) -> String? {
        guard let path = ProcessInfo.processInfo.environment[name], !path.isEmpty else {
            return nil
        }
        return path
    }
}
