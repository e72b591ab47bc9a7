import RoostEngine
import RoostFormat
import RoostIO

extension Workspace {
    /// Writes what can be read of the workspace at `source`, however damaged, into a new one at
    /// `target`, which is on disk and closed when the call returns. Changes nothing at `source`.
    ///
    /// Costs reading all of `source`; holds all of its keys in memory. Not to be called where
    /// blocking is not allowed.
    ///
    /// - Throws: `.locked` while `source` or `target` is open; `.unsupportedVersion`; `.io` where
    ///   `source` cannot be read at all; what writing throws.
    /// An encrypted workspace is salvaged into one that the same key opens.
    package static func salvage(
        from source: String, to target: String, encryption: WorkspaceEncryption? = nil,
        _ onProgress: @Sendable (_ doneCount: Int, _ totalCount: Int) -> Void = { _, _ in }
    ) async throws -> SalvageReport {
        let configuration = Configuration(encryption: encryption)
        var salvage = try Salvage(path: source, fileSystem: configuration.fileSystem)
        let workspace = try await open(at: target, configuration: configuration)
        var batch = EncodedBatch(hashSeed: workspace.engine.hashSeed)
        let recordKeys = salvage.recordKeys
        for (index, recordKey) in recordKeys.enumerated() {
            onProgress(index, recordKeys.count)
            guard let value = try salvage.value(of: recordKey),
                batch.put(value, recordKey: recordKey)
            else { continue }
            salvage.noteWritten(recordCount: 1)
            if batch.payloadCount > 1 << 20 {
                _ = try await workspace.engine.commit(batch, durability: .process)
                batch = EncodedBatch(hashSeed: workspace.engine.hashSeed)
            }
        }
        _ = try await workspace.engine.commit(batch, durability: .process)
        try await workspace.synchronize()
        try await workspace.close()
        return salvage.report
    }
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
        // Indexes are built again.
        guard recordKey.count > 1, recordKey[1] != DictionaryName.hiddenByte || recordKey[0] == 0
        else { return false }
        guard let (name, key) = parts, let dictionary = DictionaryName(name), let kind = value.first
        else { return false }
        put(
            EncodedValue(kind: kind, payload: .bytes(Array(value.dropFirst()))), forKey: key,
            in: dictionary)
        return true
    }
}
