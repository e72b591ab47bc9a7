import ArgumentParser
import Foundation
import Roost
import RoostFormat
import RoostIO

/// `roost dump`: what the files hold, for people.
struct DumpCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: "Prints the operations of log segments and the records of snapshots.",
        discussion: """
            Takes a workspace's directory, or one file of it. One line for each operation or \
            record; lines about a file begin with #. A workspace may be open elsewhere: files that go \
            meanwhile are named, and the log ends where it was read. Exit status 3 where a checksum does not hold; what stands \
            before it has been printed.
            """)

    @Argument(help: "A workspace's directory, or a log segment, snapshot or manifest in one.")
    var path: String
    @Flag(help: "Print values whole, however long they are.")
    var full = false
    @OptionGroup var encryption: EncryptionOptions

    private static let previewCharacterCount = 100

    func validate() throws { try refuseAddress(path) }

    func run() async throws {
        let output = try Output()
        do { try dump(to: output) } catch {
            try output.flush()
            throw error
        }
        try output.flush()
    }

    private func dump(to output: Output) throws {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            throw Failure(.usage, "\(path): there is no such file or directory")
        }
        let fileSystem = Workspace.Configuration(encryption: try encryption.encryption()).fileSystem
        if isDirectory.boolValue {
            let directory = try fileSystem.openDirectory(at: path, create: false)
            let names = try directory.entries().map(\.name).sorted()
            guard names.contains(where: { FileName($0) != nil }) else {
                throw Failure(.failed, "\(path): there is no workspace here to read")
            }
            for name in names {
                guard let file = FileName(name) else { continue }
                do { try dump(file, in: directory, to: output) } catch let error as RoostError
                    where error.code == .io
                {
                    if try directory.entries().contains(where: { $0.name == name }) { throw error }
                    try sayRemoved(name, to: output)
                }
            }
            return
        }
        let url = URL(fileURLWithPath: path)
        guard let file = FileName(url.lastPathComponent), isReadable(file) else {
            throw Failure(.usage, "\(path): not a log segment, snapshot or manifest by its name")
        }
        let directory = try fileSystem.openDirectory(
            at: url.deletingLastPathComponent().path, create: false)
        try dump(file, in: directory, to: output)
    }

    private func sayRemoved(_ name: String, to output: Output) throws {
        try output.writeLine("# \(name): removed by the writer meanwhile")
    }

    private func isReadable(_ file: FileName) -> Bool {
        switch file {
        case .manifest, .segment, .snapshot: true
        case .newManifest, .signals, .unfinishedSnapshot, .tornTail, .unfinishedTornTail: false
        }
    }

    private func dump(_ file: FileName, in directory: any Directory, to output: Output) throws {
        let preview = ValuePreview(
            maximumCharacterCount: full ? nil : Self.previewCharacterCount)
        switch file {
        case .manifest: try ManifestDump(preview: preview, output: output).dump(in: directory)
        case .segment(let number):
            let log = LogDump(preview: preview, output: output)
            guard let reader = try log.open(segment: number, in: directory) else {
                return try sayRemoved(file.text, to: output)
            }
            try log.dump(reader)
        case .snapshot(let number):
            try SnapshotDump(preview: preview, output: output)
                .dump(snapshot: number, in: directory)
        case .signals:
            try output.writeLine("# \(file.text): what a writer and its readers tell each other by")
        case .newManifest, .unfinishedSnapshot, .tornTail, .unfinishedTornTail:
            try output.writeLine("# \(file.text): left by a crash, not part of the workspace")
        }
    }
}
