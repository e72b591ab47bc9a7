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
/// - What the manifest is known as changes in two steps: the file that is about to become it counts from before the
///   rename on. Others look meanwhile, and nothing is left that can fail once the new manifest counts.
/// - Where the file system does not tell files apart nothing is seen.
final class ManifestGuard: Sendable {
    private struct Known: Equatable {
        /// Of the file that was read or written as the manifest last.
        var current: FileIdentity?
        /// Of the file that is about to take its place, or has just taken it.
        var next: FileIdentity?
    }

    private let directory: any Directory
    private let known: Mutex<Known>

    init(_ directory: any Directory) throws {
        self.directory = directory
        known = Mutex(Known(current: try directory.identity(of: FileName.manifest.text)))
    }

    /// To be called before this opening renames the new manifest, which leaves the file what it is.
    func willReplace() throws {
        let next = try directory.identity(of: FileName.newManifest.text)
        known.withLock { $0.next = next }
    }

    /// The manifest was just replaced by this opening.
    func didReplace() { known.withLock { $0 = Known(current: $0.next) } }

    /// To be called before a file is made or removed by its name. Costs a look at the manifest's name.
    ///
    /// A file in the manifest's place that is none is replaced later: what stands in memory is whole.
    ///
    /// - Throws: `.poisoned` where the manifest is another file by now, or gone.
    func check() throws {
        guard try isForeign() else { return }
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

    private func isForeign() throws -> Bool {
        var before = known.withLock { $0 }
        while let current = before.current {
            let found = try directory.identity(of: FileName.manifest.text)
            if found == current || (found != nil && found == before.next) { return false }
            // This opening may have replaced it between the two looks.
            let after = known.withLock { $0 }
            if after == before { return true }
            before = after
        }
        return false
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
