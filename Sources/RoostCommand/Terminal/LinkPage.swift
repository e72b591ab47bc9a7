import Foundation

/// A page in a file that leads to a link, for a browser that is to open a link which nobody else may see: any
/// user of the machine reads the arguments of any program.
///
/// Only its owner may read the file, and look into the directory.
struct LinkPage: Sendable {
    let path: String
    private let directory: String

    /// - Throws: where there is no room, or no directory for temporary files.
    init(_ link: String) throws {
        let pattern = FileManager.default.temporaryDirectory
            .appendingPathComponent("roost-inspect-XXXXXX").path
        var template = Array(pattern.utf8CString)
        // The directory is new, and of mode 0700, or there is none.
        guard mkdtemp(&template) != nil else { throw Self.failure("mkdtemp", pattern) }
        directory = String(
            decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        path = directory + "/inspector.html"
        do { try Self.write(Self.text(link), to: path) } catch {
            remove()
            throw error
        }
    }

    /// Once is enough; what is gone already is no error.
    func remove() {
        _ = unlink(path)
        _ = rmdir(directory)
    }

    private static func text(_ link: String) -> String {
        """
        <!doctype html>
        <html lang="en">
        <meta charset="utf-8">
        <meta name="referrer" content="no-referrer">
        <meta http-equiv="refresh" content="0; url=\(link)">
        <title>Roost</title>
        <p><a href="\(link)">To the inspector</a></p>
        </html>

        """
    }

    private static func write(_ text: String, to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("open", path) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try file.write(contentsOf: Data(text.utf8))
        try file.close()
    }

    private static func failure(_ call: String, _ path: String) -> Failure {
        Failure(.failed, "\(call) of \(path): \(String(cString: strerror(errno)))")
    }
}
