#if Replica
    import Foundation
    import Roost
    import RoostIO

    /// Objects as files of a directory, such as one on another disk or a mounted share.
    ///
    /// - An object is there whole or not at all: it is written beside its place, synced, and linked
    ///   or renamed to its name.
    /// - Where something was put or listed, nothing more is while its directory is gone, as that of a share that is not
    ///   mounted any more: `.io`, until it is there again. Nothing is said to be missing there either.
    /// - What a writer that was killed has left unfinished is removed by one that goes on, a day or two later.
    /// - `putIfAbsent` is `link`, which the file system must keep from replacing anything: local ones
    ///   do, and NFS does.
    public struct DirectoryStorage: ObjectStorage {
        /// The directory's path.
        public let path: String
        private let files: DirectoryFiles

        /// The directory at `path`, which is made where it is missing, at the first write.
        public init(path: String) { self.init(path: path) {} }

        init(
            path: String, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
            beforeDirectorySync: @escaping @Sendable () throws -> Void
        ) {
            self.path = path
            // A process may change where its paths begin: what is put later would stand elsewhere than what was put before.
            let place =
                path.hasPrefix("/") ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
            files = DirectoryFiles(path: place, beforeSync: beforeDirectorySync, now: now)
        }

        /// As of ``ObjectStorage``.
        public func get(_ name: String, maximumSizeBytes: Int) async throws -> [UInt8]? {
            guard let sizeBytes = try await files.sizeBytes(of: name) else { return nil }
            try checkSize(Int(sizeBytes), of: "\(path)/\(name)", maximumSizeBytes)
            return try await files.read(name, 0..<sizeBytes)
        }

        /// As of ``ObjectStorage``.
        public func download(
            _ name: String, to receive: ([UInt8]) async throws -> Void
        ) async throws -> Bool {
            guard let sizeBytes = try await files.sizeBytes(of: name) else { return false }
            var offset: UInt64 = 0
            while offset < sizeBytes {
                let end = min(offset + 1 << 20, sizeBytes)
                guard let piece = try await files.read(name, offset..<end) else { return false }
                try await receive(piece)
                offset = end
            }
            return true
        }

        /// As of ``ObjectStorage``.
        public func put(_ name: String, _ content: ObjectContent) async throws {
            let file = try await files.begin()
            do {
                var offset: UInt64 = 0
                while offset < content.sizeBytes {
                    // Who stops waits until what was written by half is removed.
                    try Task.checkCancellation()
                    let end = min(offset + 1 << 20, content.sizeBytes)
                    try await files.write(try await content.read(offset..<end), to: file)
                    offset = end
                }
                _ = try await files.finish(file, as: name, replaces: true)
            } catch {
                await files.discard(file)
                throw error
            }
        }

        /// As of ``ObjectStorage``.
        public func putIfAbsent(_ name: String, _ bytes: [UInt8]) async throws -> Bool {
            let file = try await files.begin()
            do {
                try await files.write(bytes, to: file)
                return try await files.finish(file, as: name, replaces: false)
            } catch {
                await files.discard(file)
                throw error
            }
        }

        /// As of ``ObjectStorage``.
        public func list(prefix: String, after name: String?) async throws -> [StoredObject] {
            try await files.list(prefix: prefix, after: name)
        }

        /// As of ``ObjectStorage``.
        public func delete(_ name: String) async throws { try await files.delete(name) }
    }
#endif
