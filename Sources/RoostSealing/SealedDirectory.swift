import RoostFormat
import RoostIO
import Synchronization

/// A directory whose files are sealed, but for the page of signals, which says nothing of what is stored.
///
/// - The ring of keys is read when a file is first asked for, and made under the lock of a directory that has no
///   workspace yet. It is hidden from who lists the directory.
final class SealedDirectory: Directory {
    private struct State {
        var suite: any SealingSuite
        var ring: KeyRing?
        var isLockedForWriting = false
    }

    let base: any Directory
    private let fileSystem: SealedFileSystem
    private let state: Mutex<State>
    /// That of `state.ring`, for who writes.
    private let newestKeyNumber = Atomic<UInt64>(0)

    var path: String { base.path }

    init(_ base: any Directory, _ fileSystem: SealedFileSystem) {
        self.base = base
        self.fileSystem = fileSystem
        state = Mutex(State(suite: fileSystem.suite))
    }

    // MARK: Keys

    private func ring() throws -> KeyRing {
        try state.withLock { state in
            if let ring = state.ring { return ring }
            let ring = try findRing(&state)
            state.ring = ring
            newestKeyNumber.store(ring.newest.number, ordering: .releasing)
            return ring
        }
    }

    private func findRing(_ state: inout State) throws -> KeyRing {
        let first = fileSystem.firstKeys(besides: self)
        do {
            guard let ring = try readRing(state.suite) else { return try newRing(&state, first) }
            guard try isUnfinished(state) else { return ring }
            guard let first, ring != first.ring else {
                // Its name may not be on disk where the opening that wrote it did not end. A manifest without it
                // would be a workspace that nobody can open.
                try base.sync()
                return ring
            }
        } catch let error as RoostError where error.code == .wrongKey {
            guard let first else { throw error }
            if try !isUnfinished(state) {
                // A backup of before the user's key was changed: the data keys are those of today.
                guard try opensManifest(with: first.ring) else { throw error }
                return first.ring
            }
        }
        // A backup that did not end goes on under the keys of today.
        guard let first else { preconditionFailure("another directory was opened first") }
        try write(first.ring, first.suite)
        state.suite = first.suite
        return first.ring
    }

    /// Whether this is no workspace yet, and is being made one.
    private func isUnfinished(_ state: State) throws -> Bool {
        guard state.isLockedForWriting else { return false }
        return try !base.entries().contains { $0.name == FileName.manifest.text }
    }

    /// Whether `ring` has the key of the manifest.
    private func opensManifest(with ring: KeyRing) throws -> Bool {
        let name = FileName.manifest.text
        guard try base.entries().contains(where: { $0.name == name }) else { return false }
        let file = try base.openFile(name, writable: false)
        guard let header = try chunksHeader(of: file), let key = ring.key(header.keyNumber) else {
            return false
        }
        let sealer = key.sealer(fileSystem.suite, salt: header.salt, purpose: header.purpose)
        do {
            _ = try ChunkedFile(file, sealer, fileSystem.pressure).read(count: 1, at: 0)
            return true
        } catch let error as RoostError where error.code == .corrupt {
            return false
        }
    }

    private func readRing(_ suite: any SealingSuite) throws -> KeyRing? {
        let entries = try base.entries()
        guard entries.contains(where: { $0.name == KeyRing.fileName }) else { return nil }
        let file = try base.openFile(KeyRing.fileName, writable: false)
        let size = try file.sizeBytes()
        guard size <= UInt64(KeyRing.sizeLimitBytes) else {
            throw RoostError(.corrupt, "the file of keys is too long to be one", file: file.path)
        }
        return try KeyRing(try file.read(count: Int(size), at: 0), suite, path: file.path)
    }

    /// For a workspace that is new: with the keys of the one that this file system opened first, so that a backup
    /// can share files with it, under the user's key of the same moment: under an earlier one it would give away what the
    /// workspace writes from now on.
    private func newRing(
        _ state: inout State, _ first: (ring: KeyRing, suite: any SealingSuite)?
    ) throws -> KeyRing {
        // What is no file of a workspace is left alone, as by one that is not encrypted.
        let isUsed = try base.entries().contains { entry in
            guard entry.isRegularFile, let name = FileName(entry.name) else { return false }
            return name != .signals
        }
        guard !isUsed, state.isLockedForWriting else {
            throw RoostError(
                .wrongKey,
                "the workspace is not encrypted, or its file of keys is gone: open it without a key, or put that back",
                file: path)
        }
        let ring = first?.ring ?? KeyRing(random: base.randomNumber)
        if let first { state.suite = first.suite }
        try write(ring, state.suite)
        return ring
    }

    /// The ring as it is, where it was read.
    var knownRing: KeyRing? { state.withLock { $0.ring } }

    private func write(_ ring: KeyRing, _ suite: any SealingSuite) throws {
        let bytes = try ring.sealed(suite, random: base.randomNumber)
        if try base.entries().contains(where: { $0.name == KeyRing.newFileName }) {
            try base.remove(KeyRing.newFileName)
        }
        let file = try base.createFile(KeyRing.newFileName)
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
        try file.syncData()
        try base.rename(KeyRing.newFileName, to: KeyRing.fileName)
        try base.sync()
    }

    /// Adds a data key for new files, and seals the ring under another key of the user's from now on. Where
    /// it throws, either the old key or the new one opens the workspace, and this opening goes on with the
    /// old data key.
    func rotate(to suite: any SealingSuite) throws {
        _ = try ring()
        try state.withLock { state in
            guard var ring = state.ring else { preconditionFailure("the ring was read") }
            try ring.addKey(
                random: base.randomNumber, path: "\(base.path)/\(KeyRing.fileName)")
            try write(ring, suite)
            state.ring = ring
            state.suite = suite
            newestKeyNumber.store(ring.newest.number, ordering: .releasing)
        }
    }

    /// The data key of this number, which another process may have added meanwhile.
    private func key(_ number: UInt64) throws -> KeyMemory? {
        if let key = try ring().key(number) { return key }
        return try state.withLock { state in
            if state.isLockedForWriting { return nil }
            do {
                guard let ring = try readRing(state.suite) else { return nil }
                state.ring = ring
                return ring.key(number)
            } catch let error as RoostError where error.code == .wrongKey {
                throw RoostError(
                    .wrongKey,
                    "the key of the workspace was changed while it was read: open it again with the new one",
                    file: path)
            }
        }
    }

    private func sealer(_ header: SealedHeader) throws -> Sealer {
        guard let key = try key(header.keyNumber) else {
            throw RoostError(
                .wrongKey,
                "a file is sealed under data key \(header.keyNumber), which the file of keys does not have: put the newest one back",
                file: path)
        }
        return key.sealer(fileSystem.suite, salt: header.salt, purpose: header.purpose)
    }

    private func newHeader(_ kind: SealedHeader.Kind) throws -> SealedHeader {
        SealedHeader(kind: kind, keyNumber: try ring().newest.number, random: base.randomNumber)
    }

    // MARK: Files

    private static func isJournal(_ name: String) -> Bool { name.hasPrefix("log-") }

    func createFile(_ name: String) throws -> any File {
        if name == "SIGNALS" { return try base.createFile(name) }
        _ = try ring()
        let file = try base.createFile(name)
        if Self.isJournal(name) { return JournalFile(new: file, self) }
        do {
            let header = try newHeader(.chunks)
            return try ChunkedFile(new: file, header, try sealer(header), fileSystem.pressure)
        } catch {
            // Nobody knows of it to remove it. The first failure is the one to tell.
            do { try base.remove(name) } catch {}
            throw error
        }
    }

    func openFile(_ name: String, writable: Bool) throws -> any File {
        if name == "SIGNALS" { return try base.openFile(name, writable: writable) }
        _ = try ring()
        let file = try base.openFile(name, writable: writable)
        if Self.isJournal(name) { return JournalFile(file, self, writable: writable) }
        guard let header = try chunksHeader(of: file) else {
            throw RoostError(
                .corrupt,
                "the header of a sealed file is damaged. Restore a backup, or salvage what can be read",
                file: file.path, offset: 0)
        }
        return ChunkedFile(file, try sealer(header), fileSystem.pressure)
    }

    /// `nil` where it is damaged, or of another kind.
    private func chunksHeader(of file: any File) throws -> SealedHeader? {
        var bytes = [UInt8](repeating: 0, count: SealedHeader.sizeBytes)
        let count = try bytes.withUnsafeMutableBytes { try file.readUp(to: $0, at: 0) }
        let header = bytes.withUnsafeBytes { SealedHeader(.init(rebasing: $0[..<count])) }
        return header?.kind == .chunks ? header : nil
    }

    /// As they are, where the other directory's files open with this one's keys.
    func link(_ name: String, from other: any Directory) throws -> Bool {
        guard let other = other as? SealedDirectory else { return false }
        let own = try ring().entries
        guard try other.ring().entries.allSatisfy(own.contains) else { return false }
        return try base.link(name, from: other.base)
    }

    func entries() throws -> [DirectoryEntry] {
        try base.entries().filter { ![KeyRing.fileName, KeyRing.newFileName].contains($0.name) }
    }

    func rename(_ source: String, to target: String) throws {
        try base.rename(source, to: target)
    }

    /// The keys go with the last file.
    func remove(_ name: String) throws { try base.remove(name) }

    // MARK: The directory

    func lock(exclusive: Bool, patience: Duration) throws {
        try base.lock(exclusive: exclusive, patience: patience)
        if exclusive { state.withLock { $0.isLockedForWriting = true } }
    }

    func unlock() throws {
        state.withLock { $0.isLockedForWriting = false }
        try base.unlock()
    }

    func identity(of name: String) throws -> FileIdentity? { try base.identity(of: name) }
    func isReplaced() throws -> Bool { try base.isReplaced() }

    func noteLeft() { base.noteLeft() }
    func sync() throws { try base.sync() }
    func syncAncestors() throws { try base.syncAncestors() }
    func randomNumber() -> UInt64 { base.randomNumber() }

    /// What is mapped is opened pieces in memory of this process.
    var sharing: MemorySharing {
        get throws {
            let sharing = try base.sharing
            return sharing == .mapped ? .called : sharing
        }
    }
}

extension SealedDirectory: JournalKeys {
    var currentKeyNumber: UInt64 { newestKeyNumber.load(ordering: .acquiring) }

    func newPart() throws -> (part: JournalPart, header: [UInt8]) {
        let header = try newHeader(.journal)
        return (try part(header), header.bytes)
    }

    func part(_ header: SealedHeader) throws -> JournalPart {
        JournalPart(sealer: try sealer(header), keyNumber: header.keyNumber)
    }
}
