import CRoost
import RoostIO

/// A data key in memory of its own, overwritten with zeros when the last reference goes.
///
/// `@unchecked Sendable`: the memory is written in `init` and in `deinit` alone.
package final class KeyMemory: @unchecked Sendable, Equatable {
    private let memory: UnsafeMutableRawBufferPointer

    /// Copies the bytes.
    package init(_ bytes: UnsafeRawBufferPointer) {
        memory = .allocate(byteCount: bytes.count, alignment: 16)
        memory.copyMemory(from: bytes)
    }

    deinit {
        roost_wipe(memory.baseAddress, memory.count)
        memory.deallocate()
    }

    /// Valid as long as this is.
    package var bytes: UnsafeRawBufferPointer { .init(memory) }

    /// What a file is sealed with under this key; the copy that this takes is wiped.
    package func sealer(_ suite: any SealingSuite, salt: [UInt8], purpose: String) -> Sealer {
        var copy = Array(bytes)
        defer { wipe(&copy) }
        return suite.sealer(dataKey: copy, salt: salt, purpose: purpose)
    }

    package static func == (left: KeyMemory, right: KeyMemory) -> Bool {
        left.bytes.elementsEqual(right.bytes)
    }
}
