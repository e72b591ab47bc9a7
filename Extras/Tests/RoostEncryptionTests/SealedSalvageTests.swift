import Crypto
import Foundation
import RoostEncryption
import Testing

@testable import Roost

/// A salvage of an encrypted workspace by one who has not its key: nothing is lost there.
@Suite struct SealedSalvageTests {
    private let key = SymmetricKey(size: .bits256)
    private let path = FileManager.default.temporaryDirectory
        .appendingPathComponent("roost-sealed-salvage-\(UUID())").path

    private func fill(_ encryption: WorkspaceEncryption?, flushed: Bool) async throws {
        let workspace = try await Workspace.open(
            at: "\(path)/w", configuration: .init(encryption: encryption))
        let dictionary = workspace.dictionary("people")
        try await dictionary.setAll((0..<500).map { ("k\($0)", "value \($0)") })
        if flushed { try await workspace.compact() }
        try await dictionary.set("the last", forKey: "last")
        try await workspace.close()
    }

    private func expectWrongKey(_ encryption: WorkspaceEncryption?) async throws {
        let error = await #expect(throws: RoostError.self) {
            try await Workspace.salvage(
                from: "\(path)/w", to: "\(path)/t", encryption: encryption)
        }
        #expect(error?.code == .wrongKey)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["w"])
    }

    @Test(arguments: [false, true], [false, true])
    func withoutItsKeyNoWorkspaceIsMade(flushed: Bool, withManifest: Bool) async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await fill(.key(key), flushed: flushed)
        if !withManifest { try FileManager.default.removeItem(atPath: "\(path)/w/MANIFEST") }
        try await expectWrongKey(nil)
        try await expectWrongKey(.key(SymmetricKey(size: .bits256)))
        try await expectWrongKey(.passphrase("a guess", cost: .light))
        let report = try await Workspace.salvage(
            from: "\(path)/w", to: "\(path)/t", encryption: .key(key))
        #expect(report.recordCount == 501 && report.isComplete == withManifest)
    }

    @Test(arguments: [false, true])
    func aKeyForOneThatIsNotEncryptedIsRefused(flushed: Bool) async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await fill(nil, flushed: flushed)
        try await expectWrongKey(.key(key))
    }

    /// The file of keys of before a change of the key opens what is older.
    @Test func whatOlderKeysOpenIsSalvaged() async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await fill(.key(key), flushed: true)
        let keys = URL(fileURLWithPath: "\(path)/w/KEYS")
        let older = try Data(contentsOf: keys)
        let workspace = try await Workspace.open(
            at: "\(path)/w", configuration: .init(encryption: .key(key)))
        try await workspace.rotateKey(to: .key(key))
        try await workspace.dictionary("people").set("newer", forKey: "newer")
        try await workspace.close()
        try older.write(to: keys)
        let report = try await Workspace.salvage(
            from: "\(path)/w", to: "\(path)/t", encryption: .key(key))
        #expect(report.recordCount >= 500 && !report.isComplete)
    }

    /// The last chunk, with the footer, does not open any more; of a chunk in the middle the records are lost.
    @Test(arguments: [false, true]) func aChangedChunkCostsWhatItHas(isLast: Bool) async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let workspace = try await Workspace.open(
            at: "\(path)/w", configuration: .init(encryption: .key(key)))
        let dictionary = workspace.dictionary("people")
        try await dictionary.setAll((0..<20_000).map { ("k\($0)", "value \($0)") })
        try await workspace.compact()
        try await workspace.close()
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(path)/w")
        let name = try #require(names.first { $0.hasPrefix("snapshot-") })
        let file = URL(fileURLWithPath: "\(path)/w/\(name)")
        var bytes = try Data(contentsOf: file)
        bytes[isLast ? bytes.count - 100 : bytes.count / 3] ^= 4
        try bytes.write(to: file)
        let report = try await Workspace.salvage(
            from: "\(path)/w", to: "\(path)/t", encryption: .key(key))
        if isLast {
            #expect(report.recordCount == 20_000 && report.isComplete)
        } else {
            #expect(report.recordCount < 20_000 && report.recordCount > 19_000)
            #expect(report.recordCount + report.lostRecordCount == 20_000)
        }
    }
}
