import Foundation
import RoostEngine
import RoostFormat
import RoostIO
import RoostSealing

extension Workspace {
    /// Writes what can be read of the workspace at `source`, however damaged, into a new one at
    /// `target`, which is on disk and closed when the call returns. Changes nothing at `source`.
    ///
    /// Until it is complete it is called `target` with `.incomplete` after it: `target` itself is there whole or not
    /// at all. What a call that did not end has left there is removed by the next one.
    ///
    /// Costs reading all of `source`; holds all of its keys in memory. Not to be called where
    /// blocking is not allowed.
    ///
    /// - Throws: `.locked` while `source` is open, or another call writes to `target`; `.unsupportedVersion`; `.io` where
    ///   `source` cannot be read at all, or there is something at `target`; `.wrongKey` where nothing can be read
    ///   without another key; what writing throws.
    ///
    /// An encrypted workspace is salvaged into one that the same key opens.
    package static func salvage(
        from source: String, to target: String, encryption: WorkspaceEncryption? = nil,
        _ onProgress: @Sendable (_ doneCount: Int, _ totalCount: Int) -> Void = { _, _ in }
    ) async throws -> SalvageReport {
        let configuration = Configuration(encryption: encryption)
        var salvage = try Salvage(path: source, fileSystem: configuration.fileSystem)
        try checkKey(of: salvage, from: source, encryption)
        let place = URL(fileURLWithPath: target).standardizedFileURL
        let parent = try PosixFileSystem().openOrMakeDirectory(
            at: place.deletingLastPathComponent().path)
        let incomplete = try IncompleteDirectory(
            of: place.lastPathComponent, in: parent, by: "salvage"
        ) { entry in
            FileName(entry.name) != nil
                || [KeyRing.fileName, KeyRing.newFileName].contains(entry.name)
        }
        try await write(&salvage, to: incomplete.path, configuration, onProgress)
        try incomplete.finish()
        return salvage.report
    }

    /// What another key opens is not lost, and a new workspace without it would say that it is.
    private static func checkKey(
        of salvage: Salvage, from source: String, _ encryption: WorkspaceEncryption?
    ) throws {
        guard salvage.isEmpty else { return }
        if let wrongKey = salvage.wrongKey { throw wrongKey }
        // Where the manifest is damaged, nothing else of a sealed workspace says to one who has no key that it is
        // sealed.
        guard encryption == nil else { return }
        let directory = try PosixFileSystem().openDirectory(at: source, create: false)
        guard try directory.entries().contains(where: { $0.name == KeyRing.fileName }) else {
            return
        }
        throw RoostError(
            .wrongKey, "the workspace is encrypted: salvage it with its key", file: source)
    }

    private static func write(
        _ salvage: inout Salvage, to path: String, _ configuration: Configuration,
        _ onProgress: @Sendable (_ doneCount: Int, _ totalCount: Int) -> Void
    ) async throws {
        let workspace = try await open(at: path, configuration: configuration)
        var batch = EncodedBatch(hashSeed: workspace.engine.hashSeed)
        let recordKeys = salvage.recordKeys
        for (index, recordKey) in recordKeys.enumerated() {
            onProgress(index, recordKeys.count)
            if isHidden(recordKey) { continue }
            let before = index + 1 < recordKeys.count ? recordKeys[index + 1] : nil
            let after = index > 0 ? recordKeys[index - 1] : nil
            guard let value = try salvage.value(of: recordKey, after: after, before: before) else {
                continue
            }
            guard batch.put(value, recordKey: recordKey) else {
                salvage.noteLoss(
                    of: recordKey, after: after, before: before, "a record makes no sense")
                continue
            }
            salvage.noteWritten(recordCount: 1)
            if batch.payloadCount > 1 << 20 {
                _ = try await workspace.engine.commit(batch, durability: .process)
                batch = EncodedBatch(hashSeed: workspace.engine.hashSeed)
            }
        }
        _ = try await workspace.engine.commit(batch, durability: .process)
        try await workspace.synchronize()
        try await workspace.close()
    }
}

/// Whether it is a record of an index: these are built again.
private func isHidden(_ recordKey: [UInt8]) -> Bool {
    recordKey.count > 1 && recordKey[0] > 0 && recordKey[1] == DictionaryName.hiddenByte
}

extension EncodedBatch {
    /// `false` where the bytes are no record.
    fileprivate mutating func put(_ value: [UInt8], recordKey: [UInt8]) -> Bool {
        let parts = recordKey.withUnsafeBytes { bytes in
            splitRecordKey(bytes).map {
                (
                    String(decoding: $0.dictionary, as: UTF8.self),
                    String(decoding: $0.key, as: UTF8.self)
                )
            }
        }
        guard let (name, key) = parts, let dictionary = DictionaryName(name), let kind = value.first
        else { return false }
        put(
            EncodedValue(kind: kind, payload: .bytes(Array(value.dropFirst()))), forKey: key,
            in: dictionary)
        return true
    }
}
