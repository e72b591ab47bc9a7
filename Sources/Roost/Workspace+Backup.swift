import Foundation
import RoostEngine
import RoostFormat
import RoostIO

extension Workspace {
    /// Writes all that the workspace holds at one moment, the beginning of the call, into a new
    /// workspace at `path`, which is on disk, compacted and closed when the call returns. Readers
    /// and writers go on meanwhile. Batches are in it whole or not at all; values keep their
    /// deadlines and versions; every checksum is checked on the way.
    ///
    /// Until it is complete the copy is called `path` with `.incomplete` behind it: `path` itself
    /// is there whole or not at all. What a backup that failed or was killed left behind is cleared
    /// by the next one to the same path.
    ///
    /// Costs reading this store and writing it twice, without reading it into memory. What is
    /// overwritten meanwhile stays in memory or in its files until the call ends.
    ///
    /// - Throws: `.io` where there is something at `path`, or that cannot be written;
    ///   `.outOfSpace`; `.corrupt` where this workspace is damaged; `.locked` while another backup
    ///   to `path` is under way; `.cancelled`; `.closed`.
    public func backup(to path: String) async throws {
        let place = URL(fileURLWithPath: path).standardizedFileURL
        let name = place.lastPathComponent
        let incomplete = "\(name).incomplete"
        let parent = try PosixFileSystem().openDirectory(
            at: place.deletingLastPathComponent().path, create: true)
        guard try !parent.entries().contains(where: { $0.name == name }) else {
            throw RoostError(
                .io, "there is something here already: back up to a new path", file: place.path)
        }
        let view = try engine.view()
        defer { view.close() }
        try Self.clear(parent, incomplete)
        // By the same clock: what is compacted below is what has not expired here.
        let clock = engine.clock
        let target = try await Workspace.open(
            at: "\(parent.path)/\(incomplete)", configuration: .init(),
            fileSystem: PosixFileSystem()
        ) { $0.wallClock = { clock.milliseconds } }
        do {
            try await copy(view, into: target)
            try await target.compact()
        } catch {
            // The first failure is the one to tell.
            try? await target.close()
            throw error
        }
        try await target.close()
        try parent.rename(incomplete, to: name)
        try parent.sync()
    }

    /// As ``backup(to:)``, for a file URL.
    public func backup(to url: URL) async throws {
        guard url.isFileURL else { throw RoostError(.io, "not a file URL: \(url.absoluteString)") }
        try await backup(to: url.path)
    }

    /// Removes the files of a backup that did not end, but no file that is not a workspace's.
    private static func clear(_ parent: any Directory, _ incomplete: String) throws {
        guard try parent.entries().contains(where: { $0.name == incomplete }) else { return }
        let left = try PosixFileSystem().openDirectory(
            at: "\(parent.path)/\(incomplete)", create: false)
        try left.lock(exclusive: true)
        let entries = try left.entries()
        if let foreign = entries.first(where: { FileName($0.name) == nil || !$0.isRegularFile }) {
            throw RoostError(
                .io, "\"\(foreign.name)\" is no part of a backup that did not end: remove it",
                file: left.path)
        }
        for entry in entries { try left.remove(entry.name) }
        try left.sync()
        try left.unlock()
    }

    private func copy(_ view: EngineView, into target: Workspace) async throws {
        for name in try view.dictionaries() {
            let scan = try view.scan(name)
            while scan.recordKey != nil {
                try checkCancellation()
                var batch = EncodedBatch(hashSeed: target.engine.hashSeed)
                try fill(&batch, from: scan, name)
                _ = try await target.engine.commit(batch, durability: .process)
            }
        }
    }

    /// Takes about a mebibyte of values, as they are stored.
    private func fill(
        _ batch: inout EncodedBatch, from scan: ViewScan, _ name: DictionaryName
    ) throws {
        while batch.payloadCount < 1 << 20, let (key, value) = try scan.storedEntry(of: name) {
            batch.put(EncodedValue(value), forKey: key, in: name)
            try scan.moveToNext()
        }
    }
}
