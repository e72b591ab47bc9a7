#if Replica
    import Roost

    /// A storage whose objects are sealed as they go to another, and opened as they come back.
    ///
    /// - Each attempt at a put chooses a new salt. What stands in the end, whichever attempt it was, opens to the same
    ///   content: so who compares what stands with what it wanted compares contents.
    /// - Nothing that is not sealed is ever handed on.
    struct SealedStorage: ObjectStorage {
        private let base: any ObjectStorage
        private let keys: CopyKeys

        init(_ base: any ObjectStorage, _ keys: CopyKeys) {
            self.base = base
            self.keys = keys
        }

        func get(_ name: String, maximumSizeBytes: Int) async throws -> [UInt8]? {
            let overhead =
                SealedObject.storedSizeBytes(ofPlain: UInt64(min(maximumSizeBytes, 1 << 60)))
                - UInt64(min(maximumSizeBytes, 1 << 60))
            let (limit, isTooLarge) = maximumSizeBytes.addingReportingOverflow(Int(overhead))
            let sealed = try await base.get(
                name, maximumSizeBytes: isTooLarge ? .max : limit)
            // What a storage left of a put that was broken off has nothing that could be opened.
            return try sealed.map { $0.isEmpty ? [] : try keys.open($0, as: name) }
        }

        func download(
            _ name: String, to receive: ([UInt8]) async throws -> Void
        ) async throws -> Bool {
            var opener = ObjectOpener(keys, name: name)
            let isThere = try await base.download(name) { piece in
                let plain = try opener.open(piece)
                if !plain.isEmpty { try await receive(plain) }
            }
            guard isThere else { return false }
            let end = try opener.finish()
            if !end.isEmpty { try await receive(end) }
            return true
        }

        func put(_ name: String, _ content: ObjectContent) async throws {
            try await base.put(name, SealedContent(content, name: name, keys).content)
        }

        func putIfAbsent(_ name: String, _ bytes: [UInt8]) async throws -> Bool {
            try await base.putIfAbsent(name, keys.seal(bytes, as: name))
        }

        /// With the sizes of the contents.
        func list(prefix: String, after name: String?) async throws -> [StoredObject] {
            try await base.list(prefix: prefix, after: name).map { object in
                let size = SealedObject.plainSizeBytes(ofStored: object.sizeBytes)
                return StoredObject(name: object.name, sizeBytes: size ?? object.sizeBytes)
            }
        }

        func delete(_ name: String) async throws { try await base.delete(name) }
    }
#endif
