import RoostIO

extension FileSystem {
    /// Opens the directory at `path`; makes it and its missing parents where there is none, as
    /// `openDirectory(at:create:)` does, but nothing inside a workspace, which holds files alone and would open no
    /// more.
    ///
    /// - Throws: `.io` where it would be made inside a workspace; what opening throws.
    package func openOrMakeDirectory(at path: String) throws -> any Directory {
        // What keeps it from being opened is told where it is to be made.
        if let directory = try? openDirectory(at: path, create: false) { return directory }
        var ancestor = path
        while true {
            let parent = parentPath(of: ancestor)
            if let directory = try? openDirectory(at: parent, create: false) {
                guard try !directory.holdsWorkspace else {
                    throw RoostError(
                        .io,
                        "no directory is made inside a workspace (\(parent)), which would open no more: "
                            + "choose a path outside it", file: path)
                }
                break
            }
            guard parent != ancestor else { break }
            ancestor = parent
        }
        return try openDirectory(at: path, create: true)
    }
}

extension Directory {
    /// Whether a workspace's files are here. A MANIFEST alone may be another program's.
    package var holdsWorkspace: Bool {
        get throws {
            try entries().contains { entry in
                switch FileName(entry.name) {
                case nil, .manifest, .newManifest: false
                default: entry.isRegularFile
                }
            }
        }
    }
}
