#if Replica
    import Foundation
    import Roost
    import RoostFormat
    import RoostIO

    #if canImport(Darwin)
        import Darwin
    #elseif canImport(Musl)
        import Musl
    #else
        import Glibc
    #endif

    /// The files of a `DirectoryStorage`, on a thread of their own, as the calls block.
    ///
    /// - Files that are being written are called `.unfinished-` and a random number: no object is.
    actor DirectoryFiles {
        private let path: String
        private let thread = WorkerThread(name: "roost-objects")
        /// Directories that were made, and whose names may not be on disk.
        private var unsyncedDirectories: Set<String> = []
        /// Directories that were there when something was put or listed.
        private var knownDirectories: Set<String> = []
        /// When it was looked for what killed writers have left.
        private var lastLook: ContinuousClock.Instant?

        nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

        /// For tests: called before a directory is synced.
        private let beforeSync: @Sendable () throws -> Void
        /// For tests: what time it is.
        private let now: @Sendable () -> ContinuousClock.Instant

        init(
            path: String, beforeSync: @escaping @Sendable () throws -> Void,
            now: @escaping @Sendable () -> ContinuousClock.Instant
        ) {
            self.path = path
            self.beforeSync = beforeSync
            self.now = now
        }

        /// A file that is being written.
        struct Unfinished: Sendable {
            let path: String
            fileprivate let descriptor: Int32
        }

        private func full(_ name: String) -> String { "\(path)/\(name)" }

        // MARK: Reading

        func sizeBytes(of name: String) throws -> UInt64? {
            var status = stat()
            if stat(full(name), &status) == 0 { return UInt64(status.st_size) }
            guard errno == ENOENT || errno == ENOTDIR else { throw failure("look at", full(name)) }
            try checkKnownDirectories()
            return nil
        }

        /// `nil` where there is no such file any more.
        func read(_ name: String, _ range: Range<UInt64>) throws -> [UInt8]? {
            let descriptor = open(full(name), O_RDONLY | O_CLOEXEC)
            if descriptor < 0 {
                guard errno == ENOENT else { throw failure("open", full(name)) }
                try checkKnownDirectories()
                return nil
            }
            defer { close(descriptor) }
            var bytes = [UInt8](repeating: 0, count: range.count)
            var done = 0
            while done < bytes.count {
                let count = bytes.withUnsafeMutableBytes { buffer in
                    pread(
                        descriptor, buffer.baseAddress! + done, buffer.count - done,
                        off_t(range.lowerBound) + off_t(done))
                }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw failure("read", full(name)) }
                done += count
            }
            return bytes
        }

        func list(prefix: String, after name: String?) throws -> [StoredObject] {
            // Names are made of few directories, each listed whole.
            let folder = prefix.split(separator: "/", omittingEmptySubsequences: false).dropLast()
                .joined(separator: "/")
            try noteListed(folder)
            var found: [StoredObject] = []
            // Whether an object of this name, or one in a directory of it, may be wanted: what is not is not looked at.
            func mayBeWanted(_ object: String) -> Bool {
                object.utf8.starts(with: prefix.utf8)
                    && name.map { isBefore($0, object) || $0.utf8.starts(with: object.utf8) }
                        ?? true
            }
            try visit(folder, where: mayBeWanted) { object, sizeBytes in
                if name.map({ isBefore($0, object) }) ?? true {
                    found.append(StoredObject(name: object, sizeBytes: sizeBytes))
                }
            }
            // What goes meanwhile looks as if its files were removed one by one.
            try checkKnownDirectories()
            return found.sorted { isBefore($0.name, $1.name) }
        }

        /// What is listed is believed, and so is that nothing is there: but not of a directory that was there before.
        private func noteListed(_ folder: String) throws {
            try checkKnownDirectories()
            let place = folder.isEmpty ? path : full(folder)
            var status = stat()
            if stat(place, &status) == 0 { knownDirectories.insert(place) }
        }

        private func visit(
            _ folder: String, where mayBeWanted: (String) -> Bool, _ body: (String, UInt64) -> Void
        ) throws {
            let place = folder.isEmpty ? path : full(folder)
            guard let stream = opendir(place) else {
                guard errno == ENOENT else { throw failure("list", place) }
                return try checkKnownDirectories()
            }
            defer { closedir(stream) }
            while let entry = try next(of: stream, place) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                if name.hasPrefix(".") { continue }
                let object = folder.isEmpty ? name : "\(folder)/\(name)"
                guard mayBeWanted(object) else { continue }
                var status = stat()
                if stat(full(object), &status) != 0 {
                    // Removed since it was listed.
                    if errno == ENOENT { continue }
                    throw failure("look at", full(object))
                }
                if status.st_mode & S_IFMT == S_IFDIR {
                    try visit(object, where: mayBeWanted, body)
                } else {
                    body(object, UInt64(status.st_size))
                }
            }
        }

        /// `nil` at the end.
        private func next(
            of stream: OpaquePointer, _ place: String
        ) throws -> UnsafeMutablePointer<dirent>? {
            errno = 0
            let entry = readdir(stream)
            // An end and a failure differ by this alone.
            if entry == nil, errno != 0 { throw failure("list", place) }
            return entry
        }

        // MARK: Writing

        func begin() throws -> Unfinished {
            try checkKnownDirectories()
            try makeDirectory(path)
            removeAbandoned()
            let place = full(Self.unfinished + "\(UInt64.random(in: .min ... .max))")
            let descriptor = open(place, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw failure("create", place) }
            return Unfinished(path: place, descriptor: descriptor)
        }

        private static let unfinished = ".unfinished-"

        /// Removes, once a day, what writers that were killed have left: files that nobody has written to for a day. Who
        /// was only asleep for so long fails to give his file its name, and makes another.
        private func removeAbandoned() {
            let now = now()
            if let lastLook, now - lastLook < .seconds(86_400) { return }
            lastLook = now
            let files = FileManager.default
            // What cannot be looked at or removed stays, and harms nobody.
            let names = (try? files.contentsOfDirectory(atPath: path)) ?? []
            for name in names where name.hasPrefix(Self.unfinished) {
                let attributes = try? files.attributesOfItem(atPath: full(name))
                let writtenAt = attributes?[.modificationDate] as? Date
                if let writtenAt, writtenAt < Date() - 86_400 { unlink(full(name)) }
            }
        }

        func write(_ bytes: [UInt8], to file: Unfinished) throws {
            var done = 0
            while done < bytes.count {
                let count = bytes.withUnsafeBytes { buffer in
                    Self.write(file.descriptor, buffer.baseAddress! + done, buffer.count - done)
                }
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw failure("write", file.path) }
                done += count
            }
        }

        private static func write(
            _ descriptor: Int32, _ start: UnsafeRawPointer, _ count: Int
        ) -> Int {
            #if canImport(Darwin)
                Darwin.write(descriptor, start, count)
            #elseif canImport(Musl)
                Musl.write(descriptor, start, count)
            #else
                Glibc.write(descriptor, start, count)
            #endif
        }

        /// Syncs the file and gives it its name; `false`, and the file is gone, where that name is taken
        /// and not to be replaced.
        func finish(_ file: Unfinished, as name: String, replaces: Bool) throws -> Bool {
            guard fsync(file.descriptor) == 0 else { throw failure("sync", file.path) }
            let target = full(name)
            let parent = (target as NSString).deletingLastPathComponent
            try makeDirectory(parent)
            if replaces {
                guard rename(file.path, target) == 0 else { throw failure("rename", target) }
            } else {
                let isTaken = link(file.path, target) != 0
                if isTaken, errno != EEXIST { throw failure("link", target) }
                guard unlink(file.path) == 0 else { throw failure("remove", file.path) }
                if isTaken {
                    // Who sees the name may take it for his own, from an attempt whose sync failed.
                    try syncDirectory(parent)
                    close(file.descriptor)
                    return false
                }
            }
            try syncDirectory(parent)
            close(file.descriptor)
            return true
        }

        /// After a failure, of which the caller tells.
        func discard(_ file: Unfinished) {
            close(file.descriptor)
            unlink(file.path)
        }

        func delete(_ name: String) throws {
            guard unlink(full(name)) == 0 || errno == ENOENT else {
                throw failure("remove", full(name))
            }
        }

        /// Throws where one is gone that was there: a share that is not mounted any more leaves an empty directory in its
        /// place. What is put there would be without all that has to stand beside it, and what is not found there was not
        /// removed.
        private func checkKnownDirectories() throws {
            for known in knownDirectories {
                var status = stat()
                if stat(known, &status) == 0 { continue }
                guard errno == ENOENT || errno == ENOTDIR else { throw failure("look at", known) }
                throw RoostError(
                    .io,
                    "the directory was there and is gone, as where its disk is not mounted any more: nothing is put in its place",
                    file: known)
            }
        }

        private func makeDirectory(_ path: String) throws {
            var status = stat()
            let isThere = stat(path, &status) == 0
            // One that is there may be from an attempt whose sync failed.
            if isThere, !unsyncedDirectories.contains(path) {
                knownDirectories.insert(path)
                return
            }
            let parent = (path as NSString).deletingLastPathComponent
            if !parent.isEmpty, parent != path { try makeDirectory(parent) }
            if !isThere { try refuseWorkspace(at: parent) }
            guard isThere || mkdir(path, 0o700) == 0 || errno == EEXIST else {
                throw failure("create", path)
            }
            unsyncedDirectories.insert(path)
            try syncDirectory(parent.isEmpty ? "." : parent)
            unsyncedDirectories.remove(path)
            knownDirectories.insert(path)
        }

        private func refuseWorkspace(at path: String) throws {
            let directory = try PosixFileSystem().openDirectory(at: path, create: false)
            guard try directory.holdsWorkspace else { return }
            throw RoostError(
                .io,
                "no directory is made inside a workspace, which would open no more: choose a path outside it",
                file: path)
        }

        private func syncDirectory(_ path: String) throws {
            try beforeSync()
            let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard descriptor >= 0 else { throw failure("open", path) }
            defer { close(descriptor) }
            guard fsync(descriptor) == 0 else { throw failure("sync", path) }
        }

        private func failure(_ action: String, _ path: String) -> RoostError {
            let number = errno
            let reason = String(cString: strerror(number))
            return RoostError(
                number == ENOSPC || number == EDQUOT ? .outOfSpace : .io,
                "could not \(action): \(reason) (errno \(number))", file: path)
        }
    }
#endif
