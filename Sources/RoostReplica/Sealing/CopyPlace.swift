#if Replica
    import Roost
    import RoostIO
    import RoostSealing

    /// Where a copy is, and under which key it is sealed, if it is.
    ///
    /// - A copy is plain or sealed from its first object on. Nothing is read or written before it is known that
    ///   it is what the caller takes it for.
    struct CopyPlace: Sendable {
        let storage: any ObjectStorage
        let encryption: WorkspaceEncryption?

        init(_ storage: any ObjectStorage, _ encryption: WorkspaceEncryption?) {
            self.storage = storage
            self.encryption = encryption
        }

        /// Finds out what the copy is; makes its keys where there is none yet and `begins` says so.
        ///
        /// - Throws: `.wrongKey` where the key does not open it, there is none for a sealed copy, or one for
        ///   a plain one; `.corrupt` where `KEYS` is damaged or gone; `.io` where the storage cannot be had, or there
        ///   is no copy; what asking for the key throws.
        func open(begins: Bool) async throws -> OpenedCopy {
            let name = CopyKeys.objectName
            guard let encryption else {
                _ = try await storage.read(name, maximumSizeBytes: KeyRing.sizeLimitBytes) {
                    _ -> Void in
                    throw RoostError(
                        .wrongKey, "the copy is sealed: give the key that it was made with",
                        file: name)
                }
                return OpenedCopy(plain: storage)
            }
            let thread = KeyThread()
            var isTaken = false
            while true {
                if let keys = try await Self.keys(of: storage, encryption, thread) {
                    return OpenedCopy(storage, keys)
                }
                try await checkEmpty()
                guard begins else { throw OpenedCopy.noCopy }
                if isTaken { throw RoostError.refusedAndMissing(name) }
                let keys = CopyKeys(new: encryption)
                // Where others are put meanwhile, or were by an attempt that seemed to fail, those count.
                if try await storage.putIfAbsent(name, try await thread.sealed(keys)) {
                    return OpenedCopy(storage, keys)
                }
                isTaken = true
            }
        }

        /// `nil` where there are none. Asked for again where they are damaged, as an answer may be that was cut on its way; a
        /// key that does not open them is asked for once.
        fileprivate static func keys(
            of storage: any ObjectStorage, _ encryption: WorkspaceEncryption, _ thread: KeyThread
        ) async throws -> CopyKeys? {
            try await rereading(where: [.corrupt]) {
                let stored = try await storage.get(
                    CopyKeys.objectName, maximumSizeBytes: KeyRing.sizeLimitBytes)
                guard let stored else { return nil }
                return try await thread.keys(stored, encryption)
            }
        }

        /// Throws where there is a journal, but no `KEYS`. The journal's first entry, a takeover, is never removed.
        private func checkEmpty() async throws {
            let entries = try await storage.list(prefix: ObjectName.journal, after: nil)
            guard let first = entries.first else { return }
            let bytes = try await storage.get(
                first.name, maximumSizeBytes: JournalEntry.maximumSizeBytes)
            if let bytes, SealedObject.isSealed(bytes) {
                throw RoostError(
                    .corrupt,
                    "the copy's object \(CopyKeys.objectName) is gone, without which nothing opens: put "
                        + "it back", file: first.name)
            }
            throw RoostError(
                .wrongKey,
                "the copy is not sealed: use it without a key, or begin a sealed one in another place",
                file: first.name)
        }
    }

    /// A copy that is known to be plain or sealed, as was asked for.
    struct OpenedCopy: Sendable {
        /// What the copy's objects are written to and read from: they are sealed below it where the copy is.
        let storage: any ObjectStorage
        private let keys: CopyKeys?

        init(plain storage: any ObjectStorage) {
            self.storage = storage
            keys = nil
        }

        init(_ storage: any ObjectStorage, _ keys: CopyKeys) {
            self.storage = SealedStorage(storage, keys)
            self.keys = keys
        }

        /// Of a snapshot whose SHA-256 is `digest`.
        func snapshotName(_ digest: [UInt8], _ writer: Identifier, _ base: UInt64) -> String {
            ObjectName.snapshot(keys?.nameCode(of: digest) ?? digest, writer, base)
        }

        static var noCopy: RoostError { RoostError(.io, "there is no copy in this place") }
    }

    extension Replica {
        /// Has another key open a sealed copy from now on, in the place of the one that it was made with. Who copies
        /// or follows goes on. Nothing but the object `KEYS` is written: what the copy's objects are sealed under stays the same. So
        /// where somebody else may have had both the old key and that object, begin a copy in a new place.
        ///
        /// - Throws: `.wrongKey` where the old key does not open the copy; `.io`, and then either key may open it;
        ///   what asking for the keys throws.
        public static func rotateKey(
            of storage: any ObjectStorage, from encryption: WorkspaceEncryption,
            to another: WorkspaceEncryption
        ) async throws {
            let thread = KeyThread()
            let name = CopyKeys.objectName
            guard let keys = try await CopyPlace.keys(of: storage, encryption, thread) else {
                throw RoostError(.wrongKey, "there is no sealed copy in this place", file: name)
            }
            let bytes = try await thread.sealed(keys, under: another)
            try await storage.put(name, ObjectContent(bytes))
        }
    }

    /// A thread for asking for keys and deriving them, as that blocks.
    private actor KeyThread {
        private let thread = WorkerThread(name: "roost-copy-keys")

        nonisolated var unownedExecutor: UnownedSerialExecutor {
            thread.asUnownedSerialExecutor()
        }

        func keys(_ bytes: [UInt8], _ encryption: WorkspaceEncryption) throws -> CopyKeys {
            try CopyKeys(bytes, encryption)
        }

        func sealed(_ keys: CopyKeys, under another: WorkspaceEncryption? = nil) throws -> [UInt8] {
            try keys.sealed(under: another)
        }
    }
#endif
