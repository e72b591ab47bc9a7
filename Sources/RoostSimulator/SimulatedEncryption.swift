import RoostIO
import RoostSealing
import RoostSimulation
import Synchronization

/// Whether the runs of this process are of encrypted workspaces.
package enum SimulatedEncryption {
    private static let flag = Atomic(false)

    /// To be called before the first run.
    package static func begin() { flag.store(true, ordering: .sequentiallyConsistent) }

    package static var isOn: Bool { flag.load(ordering: .relaxed) }
}

extension SimulatedFileSystem {
    /// What an engine is opened on.
    var underEngine: any FileSystem { underEngine(secret: 1) }

    /// As it opens with one of the keys, which are numbers.
    func underEngine(secret: UInt64) -> any FileSystem {
        SimulatedEncryption.isOn ? SealedFileSystem(self, SimulatedSealing(secret: secret)) : self
    }
}
