import RoostFormat
import RoostIO
import RoostSnapshot
import Synchronization

/// Sees whether the directory still has the workspace that is open.
///
/// Somebody may put other files there: a restored backup, an older state, another store. The lock keeps other openings
/// away and not copies. What this opening knows is then no longer what stands there, and each manifest or log
/// segment that it would write would mix the two.
///
/// - `identity` is of the file that was read or written as the manifest last; `nil` where the file system does not
///   tell files apart.
final class ManifestGuard: Sendable {
    private let directory: any Directory
    private let identity: Mutex<FileIdentity?>

    init(_ directory: any Directory) throws {
        self.directory = directory
        identity = Mutex(try directory.identity(of: FileName.manifest.text))
    }

    /// The manifest was just replaced by this opening.
    func note() throws {
        let new = try directory.identity(of: FileName.manifest.text)
        identity.withLock { $0 = new }
    }

    /// To be called before a file is made or removed by its name. Costs a look at the manifest's name.
    ///
    /// A file in the manifest's place that is none is replaced later: what stands in memory is whole.
    ///
    /// - Throws: `.poisoned` where the manifest is another file by now, or gone.
    func check() throws {
        guard let known = identity.withLock({ $0 }),
            try directory.identity(of: FileName.manifest.text) != known
        else { return }
        var cause: RoostError?
        do { _ = try ManifestFile.read(in: directory, entries: try directory.entries()) } catch let
            error as RoostError where error.code == .corrupt
        { return } catch let error as RoostError
            where [.unsupportedVersion, .wrongKey].contains(error.code)
        {
            cause = error
        }
        throw RoostError(
            .poisoned,
            "the workspace's files were replaced or removed while it was open; nothing more is written. Reopen it",
            file: directory.path, cause: cause)
    }
}

extension Compactor {
    /// As `ManifestGuard.check`; where it throws nothing is written to the workspace any more.
    func checkOwnership() throws {
        do { try manifestGuard?.check() } catch let error as RoostError {
            if error.code == .poisoned { condition.setPoison(error) }
            throw error
        }
    }
}
