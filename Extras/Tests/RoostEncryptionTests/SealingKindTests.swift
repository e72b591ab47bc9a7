import Crypto
import Foundation
import Roost
@_spi(Sealing) import RoostEncryption
import Testing

private func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex.utf8).map { $0 < 58 ? $0 - 48 : $0 - 87 }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

/// The ciphers that are built in write and read the same bytes.
@Suite struct SealingKindTests {
    /// A linear congruential generator, so that a failure is found again.
    private struct Random {
        var state: UInt64
        mutating func next(below limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(limit))
        }
        mutating func bytes(_ count: Int) -> [UInt8] {
            (0..<count).map { _ in UInt8(next(below: 256)) }
        }
    }

    @Test func theTraitBringsLibcrypto() {
        #expect(SealingKind.allCases.count == 2)
        #expect(SealingKind.standard != .swiftCrypto)
    }

    /// McGrew and Viega, "The Galois/Counter Mode of Operation", test case 16.
    @Test(arguments: SealingKind.allCases) func knownAnswer(kind: SealingKind) throws {
        let key = bytes("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308")
        let plain = bytes(
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39")
        let beside = bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2")
        // The nonce cafebabefacedbad decaf888, as two numbers.
        let (position, role) = (UInt64(0xaddb_cefa_beba_feca), UInt32(0x88f8_cade))
        let sealed = try kind.seal(
            plain, key: key, position: position, role: role, beside: beside)
        let expected = bytes(
            "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
                + "76fc6ece0f4e1768cddf8853bb2d551b")
        #expect(sealed == expected)
        let opened = try kind.open(sealed, key: key, position: position, role: role, beside: beside)
        #expect(opened.isOpen && opened.bytes == plain)
    }

    @Test func whatOneSealsTheOthersOpenAndNoneOpensWhatWasChanged() throws {
        var random = Random(state: 42)
        for size in [0, 1, 15, 16, 17, 144, 4095, 4096, 4097, 100_000] {
            let (key, plain) = (random.bytes(32), random.bytes(size))
            let beside = random.bytes(random.next(below: 40))
            let position = UInt64(random.next(below: 1 << 30))
            let sealed = try SealingKind.allCases.map {
                try $0.seal(plain, key: key, position: position, role: 4, beside: beside)
            }
            #expect(Set(sealed).count == 1, "\(size) bytes")
            for kind in SealingKind.allCases {
                let opened = try kind.open(
                    sealed[0], key: key, position: position, role: 4, beside: beside)
                #expect(opened.isOpen && opened.bytes == plain, "\(kind), \(size) bytes")
                for _ in 0..<20 {
                    var changed = sealed[0]
                    changed[random.next(below: changed.count)] ^= 1 << UInt8(random.next(below: 8))
                    let found = try kind.open(
                        changed, key: key, position: position, role: 4, beside: beside)
                    #expect(!found.isOpen)
                    // What nobody vouches for does not stay in memory.
                    #expect(Set(found.bytes).isSubset(of: [0, .max]) && Set(found.bytes).count < 2)
                }
                for (other, role, context) in [
                    (position + 1, 4, beside), (position, 3, beside), (position, 4, beside + [0]),
                ] as [(UInt64, UInt32, [UInt8])] {
                    let found = try kind.open(
                        sealed[0], key: key, position: other, role: role, beside: context)
                    #expect(!found.isOpen, "\(kind), \(size) bytes")
                }
            }
        }
    }

    private func withDirectory(_ body: (String) async throws -> Void) async throws {
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("roost-encryption-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await body(path)
    }

    private func open(
        _ path: String, _ key: SymmetricKey, _ kind: SealingKind
    ) async throws -> Workspace {
        try await Workspace.open(
            at: path,
            configuration: .init(memoryBudgetBytes: 0, encryption: .key(key, by: kind)))
    }

    /// Log, snapshots and keys, in turn.
    @Test func aWorkspaceGoesFromOneToTheOther() async throws {
        try await withDirectory { path in
            let key = SymmetricKey(size: .bits256)
            for round in 0..<6 {
                let workspace = try await open(
                    path, key, SealingKind.allCases[round % SealingKind.allCases.count])
                let values = workspace.dictionary("values")
                #expect(try values.count == round * 500)
                for number in 0..<(round * 500) {
                    #expect(try values["\(number)", as: Int.self] == number)
                }
                for number in (round * 500)..<((round + 1) * 500) {
                    try await values.set(number, forKey: "\(number)")
                }
                if round % 3 == 1 { try await workspace.compact() }
                if round == 3 {
                    try await workspace.rotateKey(
                        to: .key(key, by: SealingKind.allCases[round % SealingKind.allCases.count]))
                }
                #expect(try await workspace.verify().isSound)
                try await workspace.close()
            }
        }
    }

    /// No context is used by two threads at once.
    @Test(arguments: SealingKind.allCases) func readersSideBySideReadWhatWasWritten(
        kind: SealingKind
    ) async throws {
        try await withDirectory { path in
            let key = SymmetricKey(size: .bits256)
            let count = 6_000
            var random = Random(state: 7)
            var workspace = try await open(path, key, kind)
            let expected = (0..<count).map { _ in random.bytes(200) }
            for begin in stride(from: 0, to: count, by: 1_000) {
                try await workspace.dictionary("values").setAll(
                    (begin..<begin + 1_000).map { ("\($0)", expected[$0]) })
            }
            try await workspace.compact()
            try await workspace.close()
            for _ in 0..<5 {
                workspace = try await open(path, key, kind)
                let values = workspace.dictionary("values")
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for reader in 0..<8 {
                        group.addTask {
                            for step in 0..<count {
                                let number = (step * 7_919 + reader * 751) % count
                                let found = try values["\(number)", as: [UInt8].self]
                                #expect(found == expected[number])
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                try await workspace.close()
            }
        }
    }
}
