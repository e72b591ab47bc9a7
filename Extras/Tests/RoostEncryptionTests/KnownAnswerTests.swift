import Crypto
import Foundation
import Roost
import RoostEncryption
import RoostReplica
import Testing
import _CryptoExtras

private func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex.utf8).map { $0 < 58 ? $0 - 48 : $0 - 87 }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

extension Data {
    fileprivate func number<Number: FixedWidthInteger>(_ offset: Int, as type: Number.Type) -> Int {
        var number = 0
        for index in (0..<MemoryLayout<Number>.size).reversed() {
            number = number << 8 | Int(self[startIndex + offset + index])
        }
        return number
    }

    fileprivate func part(_ offset: Int, _ count: Int) -> Data {
        Data(self[(startIndex + offset)..<(startIndex + offset + count)])
    }
}

/// The primitives against published answers, and files against what docs/FORMAT.md says of them.
@Suite struct KnownAnswerTests {
    /// RFC 5869, A.1.
    @Test func hkdf() {
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: bytes(String(repeating: "0b", count: 22))),
            salt: bytes("000102030405060708090a0b0c"), info: bytes("f0f1f2f3f4f5f6f7f8f9"),
            outputByteCount: 42)
        #expect(
            key.withUnsafeBytes { Array($0) }
                == bytes(
                    "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"
                        + "34007208d5b887185865"))
    }

    /// RFC 7914, section 12, the one with a single lane and a block size of 8.
    @Test func scrypt() throws {
        let key = try KDF.Scrypt.deriveKey(
            from: Array("pleaseletmein".utf8), salt: Array("SodiumChloride".utf8),
            outputByteCount: 64, rounds: 16384, blockSize: 8, parallelism: 1)
        #expect(
            key.withUnsafeBytes { Array($0) }
                == bytes(
                    "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
                        + "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887"))
    }

    /// McGrew and Viega, "The Galois/Counter Mode of Operation", test case 16.
    @Test func aesWith256Bits() throws {
        let box = try AES.GCM.seal(
            bytes(
                "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                    + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"),
            using: SymmetricKey(
                data: bytes("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308")),
            nonce: AES.GCM.Nonce(data: bytes("cafebabefacedbaddecaf888")),
            authenticating: bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2"))
        #expect(
            Array(box.ciphertext)
                == bytes(
                    "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                        + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"))
        #expect(Array(box.tag) == bytes("76fc6ece0f4e1768cddf8853bb2d551b"))
    }

    /// Opens the data keys and the manifest with swift-crypto alone: what is on disk is what the format
    /// says, and no step between the key and the bytes is left out or weaker.
    @Test func filesOpenByWhatTheFormatSays() async throws {
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("roost-encryption-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let key = SymmetricKey(size: .bits256)
        let workspace = try await Workspace.open(
            at: path, configuration: .init(encryption: .key(key)))
        try await workspace.dictionary("numbers").set(1, forKey: "one")
        try await workspace.close()

        let ring = try Data(contentsOf: URL(fileURLWithPath: "\(path)/KEYS"))
        #expect(ring.part(0, 8) == Data("ROOSTKEY".utf8) && ring.number(12, as: UInt32.self) == 1)
        #expect(ring.part(16, 1) == Data([1]))
        let keys = try open(
            ring.part(53, ring.number(49, as: UInt32.self)), dataKey: key, salt: ring.part(17, 32),
            purpose: "roost keys 1", position: 0, role: 1, context: ring.part(0, 53))
        #expect(keys.count == 40)

        let manifest = try Data(contentsOf: URL(fileURLWithPath: "\(path)/MANIFEST"))
        #expect(manifest.part(0, 8) == Data("ROOSTENC".utf8))
        #expect(manifest.part(16, 8) == keys.part(0, 8))
        let sealed = manifest.part(64, manifest.count - 64)
        let dataKey = SymmetricKey(data: keys.part(8, 32))
        let plain = try open(
            sealed, dataKey: dataKey, salt: manifest.part(24, 32), purpose: "roost chunks 1",
            position: 0, role: 3, context: Data())
        #expect(plain.part(0, 8) == Data("ROOSTMAN".utf8))
        // Nothing but the last chunk's role opens it.
        #expect(throws: (any Error).self) {
            try open(
                sealed, dataKey: dataKey, salt: manifest.part(24, 32), purpose: "roost chunks 1",
                position: 0, role: 2, context: Data())
        }
    }

    /// As the files, a sealed copy: docs/REPLICA.md.
    @Test func copiesOpenByWhatTheFormatSays() async throws {
        let (storage, key) = (MemoryStorage(), SymmetricKey(size: .bits256))
        let workspace = try await Workspace.inMemory()
        try await workspace.dictionary("numbers").set(1, forKey: "one")
        let replica = try Replica(of: workspace, to: storage, encryption: .key(key))
        try await replica.stop(within: .seconds(600))
        func object(_ name: String) async throws -> Data {
            Data(try #require(await storage.get(name, maximumSizeBytes: .max)))
        }
        let ring = try await object("KEYS")
        let keys = try open(
            ring.part(53, ring.number(49, as: UInt32.self)), dataKey: key, salt: ring.part(17, 32),
            purpose: "roost copy keys 1", position: 0, role: 1, context: ring.part(0, 53))
        let dataKey = SymmetricKey(data: keys.part(8, 32))

        let name = "journal/00000000000000000000"
        let sealed = try await object(name)
        #expect(
            sealed.part(0, 8) == Data("ROSTSEAL".utf8) && sealed.part(8, 4) == Data([1, 0, 0, 0]))
        #expect(sealed.part(16, 8) == keys.part(0, 8))
        let plain = try open(
            sealed.part(56, sealed.count - 56), dataKey: dataKey, salt: sealed.part(24, 32),
            purpose: "roost copy object 1", position: 0, role: 3,
            context: sealed.part(0, 56) + Data(name.utf8))
        #expect(plain.part(0, 8) == Data("ROSTJRNL".utf8))
        #expect(plain.suffix(32) == Data(SHA256.hash(data: plain.dropLast(32))))
        for other in ["", "journal/00000000000000000001"] {
            #expect(throws: (any Error).self) {
                try open(
                    sealed.part(56, sealed.count - 56), dataKey: dataKey, salt: sealed.part(24, 32),
                    purpose: "roost copy object 1", position: 0, role: 3,
                    context: sealed.part(0, 56) + Data(other.utf8))
            }
        }
    }

    private func open(
        _ sealed: Data, dataKey: SymmetricKey, salt: Data, purpose: String, position: UInt64,
        role: UInt32, context: Data
    ) throws -> Data {
        let derived = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: dataKey, salt: salt, info: Data(purpose.utf8), outputByteCount: 48)
        let key = derived.withUnsafeBytes { SymmetricKey(data: Array($0[..<32])) }
        var nonce = Data()
        withUnsafeBytes(of: position.littleEndian) { nonce.append(contentsOf: $0) }
        withUnsafeBytes(of: role.littleEndian) { nonce.append(contentsOf: $0) }
        let box = try AES.GCM.SealedBox(
            nonce: AES.GCM.Nonce(data: nonce), ciphertext: sealed.dropLast(16),
            tag: sealed.suffix(16))
        return try AES.GCM.open(box, using: key, authenticating: context)
    }
}
