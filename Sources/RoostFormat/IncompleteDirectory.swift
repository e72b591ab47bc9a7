import RoostIO

/// A directory that is called NAME.incomplete until it is whole, and NAME then.
///
/// - One at a time makes it, in whatever process, and holds the lock of the file `MAKING` in it from before anything else
///   to the end: another one would remove its files, or give the directory its name before it is whole.
/// - What is opened in it beside takes the directory's own lock, and so does the maker while files are removed and the name
///   is given: somebody may have opened what is there.
package struct IncompleteDirectory: Sendable {
    package let path: String
    private let name: String
    private let parent: any Directory
    private let work: String
    private let isOwn: @Sendable (DirectoryEntry) -> Bool
    private let directory: any Directory
    private let mark: any File

    private static let markName = "MAKING"
    private var incompleteName: String { "\(name).incomplete" }

    /// Makes it, empty: what work that did not end has left is removed.
    ///
    /// - Parameters:
    ///   - work: what makes it, as errors call it: "restore".
    ///   - isOwn: whether such work may have left a file; where there is another one nothing is removed.
    /// - Throws: `.io` where something is called `name`, or a file is nobody's; `.locked` where another one makes it.
    package init(
        of name: String, in parent: any Directory, by work: String,
        isOwn: @escaping @Sendable (DirectoryEntry) -> Bool
    ) throws {
        self.name = name
        self.parent = parent
        self.work = work
        self.isOwn = isOwn
        path = "\(parent.path)/\(name).incomplete"
        try Self.checkAbsence(of: name, in: parent, work)
        (directory, mark) = try Self.held(path, by: work)
        do {
            // Who made it before may have given it its name meanwhile.
            try Self.checkAbsence(of: name, in: parent, work)
            try clear()
        } catch {
            letGo()
            throw error
        }
    }

    /// The directory, and the file whose lock is held.
    private static func held(
        _ path: String, by work: String
    ) throws -> (directory: any Directory, mark: any File) {
        var leftCount = 5
        while true {
            leftCount -= 1
            do {
                let directory = try PosixFileSystem().openDirectory(at: path, create: true)
                let there = try directory.ifThere(markName) {
                    try directory.openFile(markName, writable: true)
                }
                let mark = try there ?? directory.createFile(markName)
                try naming(work, directory) { try mark.holdLock() }
                // Another one may have ended meanwhile, and taken the file away.
                let current = try PosixFileSystem().openDirectory(at: path, create: true)
                let identity = try current.identity(of: markName)
                if let identity, try identity == directory.identity(of: markName) {
                    return (directory, mark)
                }
            } catch let error as RoostError where error.code == .io && leftCount > 0 {
                // Others begin and end: the file was made, or the directory removed, between two calls.
            }
            guard leftCount > 0 else {
                throw RoostError(
                    .locked, "others begin to \(work) to this path again and again", file: path)
            }
        }
    }

    /// Removes the mark, and the directory where nothing else is in it.
    private func letGo() {
        do {
            try directory.remove(Self.markName)
            try PosixFileSystem().removeDirectory(at: path)
        } catch {
            // It is given up for another reason, which is the one to tell; the next one removes what is left.
        }
    }

    /// Removes what is in it, but no file that such work does not make.
    package func clear() throws {
        try Self.locked(directory, work) {
            for name in try Self.entries(of: directory, isOwn, work).names {
                try directory.remove(name)
            }
            try directory.sync()
        }
    }

    /// Removes it with what is in it, where nothing keeps it from that. Nothing is to be called afterwards.
    package func abandon() {
        // As in `letGo`.
        do { try clear() } catch {}
        letGo()
    }

    /// What is in it besides the mark.
    ///
    /// - Throws: `.io` where anything is nobody's.
    private static func entries(
        of directory: any Directory, _ isOwn: (DirectoryEntry) -> Bool, _ work: String
    ) throws -> (names: [String], isMarked: Bool) {
        let all = try directory.entries()
        let entries = all.filter { $0.name != markName }
        if let foreign = entries.first(where: { !$0.isRegularFile || !isOwn($0) }) {
            throw RoostError(
                .io, "\"\(foreign.name)\" is no part of a \(work) that did not end: remove it",
                file: directory.path)
        }
        return (entries.map(\.name), entries.count < all.count)
    }

    /// Gives it its name, as it is whole, and returns once that is on disk. Nothing is to be called afterwards.
    ///
    /// - Throws: `.io` where something else has the name by now.
    package func finish() throws {
        try Self.locked(directory, work) {
            try Self.checkAbsence(of: name, in: parent, work)
            try directory.remove(Self.markName)
            try directory.sync()
            try parent.rename(incompleteName, to: name)
            try parent.sync()
        }
    }

    private static func checkAbsence(
        of name: String, in parent: any Directory, _ work: String
    ) throws {
        guard try !parent.entries().contains(where: { $0.name == name }) else {
            throw RoostError(
                .io, "there is something here already: \(work) to a new path",
                file: "\(parent.path)/\(name)")
        }
    }

    private static func locked<Result>(
        _ directory: any Directory, _ work: String, _ body: () throws -> Result
    ) throws -> Result {
        try naming(work, directory) { try directory.lock(exclusive: true) }
        let result: Result
        do { result = try body() } catch {
            // The first failure is the one to tell.
            do { try directory.unlock() } catch {}
            throw error
        }
        try directory.unlock()
        return result
    }

    private static func naming(
        _ work: String, _ directory: any Directory, _ body: () throws -> Void
    ) throws {
        do { try body() } catch let error as RoostError where error.code == .locked {
            throw RoostError(
                .locked,
                "another \(work) to this path goes on: wait for its end, or \(work) to another path",
                file: directory.path, cause: error)
        }
    }
}
