import Foundation
import RoostFormat
import RoostIO
import RoostSnapshot

/// One backup of a series, as its directory's name and manifest say.
public struct BackupGeneration: Sendable {
    /// Counts the backups of the series from one; whatever the clock says, the higher is the newer.
    public let number: UInt64
    /// When it was begun, by the clock of the workspace.
    public let date: Date
    /// Its directory: a workspace.
    public let path: String
    /// The sequence number of the last batch in it.
    public internal(set) var lastSequence: UInt64 = 0
    /// Of its snapshots and log segments.
    public internal(set) var sizeBytes: UInt64 = 0
    /// Of those that the generation before it has not: what removing all but it would not give back, and
    /// what it cost to write.
    public internal(set) var newBytes: UInt64 = 0
    /// Why it cannot be read, where it cannot.
    public internal(set) var problem: RoostError?
}

extension BackupGeneration {
    /// `000012_2026-11-24T06-43-14Z`
    static func name(number: UInt64, milliseconds: UInt64) -> String {
        let digits = String(number)
        let seconds = Date(timeIntervalSince1970: Double(milliseconds / 1000))
        let time = seconds.formatted(.iso8601).replacing(":", with: "-")
        return String(repeating: "0", count: max(0, 6 - digits.count)) + digits + "_" + time
    }

    /// The generation of a directory's name; `nil` where it is none.
    init?(name: String, in seriesPath: String) {
        let parts = name.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 2, let number = UInt64(parts[0]), number > 0, number < Limits.number,
            let separator = parts[1].firstIndex(of: "T")
        else { return nil }
        let time =
            parts[1][..<separator] + parts[1][separator...].replacing("-", with: ":")
        guard let date = try? Date(String(time), strategy: .iso8601),
            Self.name(
                number: number, milliseconds: UInt64(max(0, date.timeIntervalSince1970)) * 1000)
                == name
        else { return nil }
        self.init(number: number, date: date, path: "\(seriesPath)/\(name)")
    }

    private init(number: UInt64, date: Date, path: String) {
        self.number = number
        self.date = date
        self.path = path
    }

    /// Fills in what the manifest says, and returns it; `nil` and the problem where there is none.
    mutating func read(
        _ fileSystem: any FileSystem, after earlier: ManifestRecord?
    ) -> ManifestRecord? {
        do {
            let directory = try fileSystem.openDirectory(at: path, create: false)
            let entries = try directory.entries()
            guard let manifest = try ManifestFile.read(in: directory, entries: entries) else {
                throw RoostError(.corrupt, "the backup has no manifest", file: path)
            }
            lastSequence = manifest.durableSequence
            let known = Set((earlier?.snapshots ?? []).map(\.number))
            for snapshot in manifest.snapshots {
                sizeBytes += snapshot.fileSizeBytes
                if !known.contains(snapshot.number) { newBytes += snapshot.fileSizeBytes }
            }
            for entry in entries {
                guard case .segment = FileName(entry.name) else { continue }
                let segmentBytes = try directory.openFile(entry.name, writable: false).sizeBytes()
                sizeBytes += segmentBytes
                newBytes += segmentBytes
            }
            return manifest
        } catch {
            problem = error as? RoostError ?? RoostError(.io, "cannot be read", cause: error)
            return nil
        }
    }
}
