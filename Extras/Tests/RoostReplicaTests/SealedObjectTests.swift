import Crypto
import Roost
import RoostEncryption
import Synchronization
import Testing

@testable import RoostReplica

/// Keys of a sealed copy, without one.
func newCopyKeys() -> CopyKeys {
    CopyKeys(new: .key(SymmetricKey(size: .bits256)))
}

/// Sealed objects, without a copy.
struct SealedObjectTests {
    private let keys = newCopyKeys()
    private let name = "snapshots/of-some-name"

    private func content(_ count: Int, seed: UInt64 = testSeed) -> [UInt8] {
        var numbers = SeededNumbers(seed: seed)
        return (0..<count).map { _ in UInt8.random(in: 0 ... .max, using: &numbers) }
    }

    private static let chunk = Int(SealedObject.chunkSizeBytes)
    private static let sizes = [
        0, 1, 15, 16, 17, chunk - 16, chunk - 1, chunk, chunk + 1, chunk + 16, 2 * chunk,
        2 * chunk + 1, 3 * chunk + 5,
    ]

    @Test func aSealedStorageKeepsAStoragesPromises() async throws {
        try await checkStorage(SealedStorage(MemoryStorage(), keys))
    }

    @Test(arguments: sizes) func sizesFollowFromEachOther(count: Int) async throws {
        let (base, plain) = (MemoryStorage(), content(count))
        let storage = SealedStorage(base, keys)
        try await storage.put(name, ObjectContent(plain))
        let stored = try await base.get(name, maximumSizeBytes: .max)!
        #expect(UInt64(stored.count) == SealedObject.storedSizeBytes(ofPlain: UInt64(count)))
        #expect(SealedObject.plainSizeBytes(ofStored: UInt64(stored.count)) == UInt64(count))
        #expect(try await storage.get(name, maximumSizeBytes: count) == plain)
        #expect(try await storage.list(prefix: "", after: nil)[0].sizeBytes == UInt64(count))
        #expect(try keys.open(keys.seal(plain, as: name), as: name) == plain)
        // In pieces of any sizes.
        var numbers = SeededNumbers(seed: testSeed)
        var opener = ObjectOpener(keys, name: name)
        var (opened, rest) = ([UInt8](), stored[...])
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...100_000, using: &numbers))
            opened += try opener.open(Array(piece))
            rest = rest.dropFirst(piece.count)
        }
        opened += try opener.finish()
        #expect(opened == plain, "seed \(testSeed)")
    }

    /// What a storage asks for twice, as it sends it again, must be the same.
    @Test(arguments: sizes) func everyRangeIsThatOfTheWhole(count: Int) async throws {
        let sealed = try SealedContent(ObjectContent(content(count)), name: name, keys).content
        let whole = try await sealed.readAll()
        #expect(whole.count == Int(sealed.sizeBytes))
        var numbers = SeededNumbers(seed: testSeed)
        for _ in 0..<40 {
            let begin = Int.random(in: 0...whole.count, using: &numbers)
            let end = Int.random(in: begin...whole.count, using: &numbers)
            let part = try await sealed.read(UInt64(begin)..<UInt64(end))
            #expect(part == Array(whole[begin..<end]), "\(begin)..<\(end), seed \(testSeed)")
        }
    }

    /// Two contents under one key and nonce would show both.
    @Test func aContentThatChangesUnderneathIsNotSealedTwice() async throws {
        let reads = Mutex(0)
        let changing = ObjectContent(sizeBytes: 200_000) { range in
            let count = reads.withLock { reads in
                reads += 1
                return reads
            }
            return [UInt8](repeating: UInt8(count), count: range.count)
        }
        let sealed = try SealedContent(changing, name: name, keys).content
        _ = try await sealed.read(0..<70_000)
        // The second chunk was read before.
        await #expect(throws: RoostError.self) { try await sealed.read(69_000..<200_000) }
        let short = ObjectContent(sizeBytes: 10) { _ in [1] }
        let cut = try SealedContent(short, name: name, keys).content
        await #expect(throws: RoostError.self) { try await cut.readAll() }
    }

    @Test func noSaltIsUsedTwice() throws {
        let salts = (0..<1_000).map { _ in keys.newHeader().salt }
        #expect(Set(salts).count == salts.count && salts.allSatisfy { $0.count == 32 })
        #expect(try keys.seal([1, 2, 3], as: name) != keys.seal([1, 2, 3], as: name))
    }

    private func expectRefused(
        _ sealed: [UInt8], _ what: String, as name: String? = nil,
        by keys: CopyKeys? = nil
    ) {
        do {
            _ = try (keys ?? self.keys).open(sealed, as: name ?? self.name)
            Issue.record("\(what) is taken, seed \(testSeed)")
        } catch let error as RoostError {
            #expect(
                error.code == .corrupt || error.code == .unsupportedVersion, "\(what): \(error)")
            #expect(error.file == name ?? self.name)
        } catch { Issue.record("\(error)") }
    }

    @Test func whateverWasChangedIsRefused() throws {
        var numbers = SeededNumbers(seed: testSeed)
        let sealed = try keys.seal(content(300), as: name)
        for place in sealed.indices {
            var damaged = sealed
            damaged[place] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
            expectRefused(damaged, "byte \(place)")
            expectRefused(Array(sealed[..<place]), "a cut at \(place)")
        }
        expectRefused(sealed + [0], "a byte more")
        expectRefused(sealed, "another name", as: "snapshots/of-some-other")
        expectRefused(sealed, "another key", by: newCopyKeys())
        expectRefused(content(300), "what is not sealed")

        let (begin, size) = (SealedObject.headerSizeBytes, Int(SealedObject.storedChunkSizeBytes))
        for count in [3 * Self.chunk, 3 * Self.chunk + 9] {
            let large = try keys.seal(content(count), as: name)
            let chunks = stride(from: begin, to: large.count, by: size).map {
                Array(large[$0..<min($0 + size, large.count)])
            }
            let header = Array(large[..<begin])
            func joined(_ order: Int...) -> [UInt8] { header + order.flatMap { chunks[$0] } }
            expectRefused(joined(1, 0, 2), "two chunks that were swapped")
            expectRefused(joined(0, 1), "a cut between two chunks")
            expectRefused(joined(0, 2), "a chunk less")
            expectRefused(joined(0, 1, 1, 2), "a chunk twice")
            expectRefused(joined(), "a header alone")
            expectRefused(joined(0, 1, 2, 2), "the last chunk twice")
            let other = try keys.seal(content(count, seed: 1), as: name)
            expectRefused(
                header + chunks[0] + other[(begin + size)..<(begin + 2 * size)]
                    + chunks[2...].joined(),
                "a chunk of another object of the same name")
            expectRefused(Array(other[..<begin]) + chunks.joined(), "another object's header")
        }
    }
}
