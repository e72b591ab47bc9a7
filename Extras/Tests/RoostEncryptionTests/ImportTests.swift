import Roost
import RoostEncryption
import Testing

/// What a program writes that imports no more than this.
@Suite struct ImportTests {
    @Test func aKeyIsMadeWithoutAnotherImport() async throws {
        let key = SymmetricKey(size: .bits256)
        let same = SymmetricKey(data: key.withUnsafeBytes { Array($0) })
        #expect(same == key)
        let workspace = try await Workspace.inMemory()
        _ = WorkspaceEncryption.key(from: { same })
        try await workspace.close()
    }
}
