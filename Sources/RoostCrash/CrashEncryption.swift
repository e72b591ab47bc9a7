import Roost
import RoostSimulation

/// How the processes of a run open an encrypted workspace: by the simulation's cipher, which is quick and protects
/// nothing, but finds what a real one finds.
enum CrashEncryption {
    /// For the processes that a run starts.
    static func arguments(_ isOn: Bool) -> [String] { isOn ? ["--encrypted"] : [] }

    static func encryption(_ isOn: Bool) -> WorkspaceEncryption? {
        isOn ? WorkspaceEncryption(SimulatedSealing()) : nil
    }
}
