import Foundation
import Roost
import RoostFormat
import RoostTestSupport
import Testing

/// Snapshots of which parts are damaged that stand for all of them.
extension SalvageTests {
    /// Its magic, version, salt, number, counts, offsets, first key and checksum.
    @Test(arguments: [
        [0], [8, 13, 16], [44, 50], [104, 138], [168, 171], [187, 191], [2, 100],
    ])
    func aDamagedFooterCostsNothing(_ places: [Int]) async throws {
        let salvaged = try await salvage { path in
            for name in try fileNames(in: path, prefix: "snapshot-") {
                let begin = try readBytes("\(path)/\(name)").count - SnapshotFooter.sizeBytes
                for place in places { try flipBits("\(path)/\(name)", at: begin + place) }
            }
        }
        #expect(salvaged.status == 0, "\(salvaged.output)")
        #expect(salvaged.values == expected())
    }

    /// What was written behind it may look like groups, and be another snapshot's.
    @Test(arguments: [1, 7, 192, 5000, 3 << 20])
    func aSnapshotThatGrewCostsNothing(_ count: Int) async throws {
        let salvaged = try await salvage { path in
            let names = try fileNames(in: path, prefix: "snapshot-")
            let last = try readBytes("\(path)/\(try #require(names.last))")
            for name in names {
                let bytes = try readBytes("\(path)/\(name)")
                let more = (0..<count).map { last[last.count - 1 - ($0 % last.count)] }
                try writeBytes(bytes + more.reversed(), to: "\(path)/\(name)")
            }
        }
        #expect(salvaged.status == 0, "\(salvaged.output)")
        #expect(salvaged.values == expected())
    }

    @Test(arguments: [1, 4, 191, 192, 193, 600])
    func aSnapshotThatLostNoRecordsWithItsEndCostsNothing(_ count: Int) async throws {
        let salvaged = try await salvage { path in
            for name in try fileNames(in: path, prefix: "snapshot-") {
                let bytes = try readBytes("\(path)/\(name)")
                try writeBytes(Array(bytes.dropLast(count)), to: "\(path)/\(name)")
            }
        }
        #expect(salvaged.status == 0, "\(salvaged.output)")
        #expect(salvaged.values == expected())
    }

    /// As a copy that was broken off leaves it.
    @Test(arguments: [0.25, 0.5, 0.75])
    func aSnapshotThatWasCutCostsWhatStoodBehindTheCut(_ share: Double) async throws {
        let salvaged = try await salvage { path in
            let name = try #require(try fileNames(in: path, prefix: "snapshot-").first)
            let bytes = try readBytes("\(path)/\(name)")
            let footer = try footer(of: bytes)
            let groupsSize = Double(footer.groupsEnd - footer.groupsOffset)
            let cut = Int(footer.groupsOffset) + Int(groupsSize * share)
            try writeBytes(Array(bytes.prefix(cut)), to: "\(path)/\(name)")
        }
        // One of two snapshots.
        try checkLost(salvaged, atMost: Int(1200 * (1 - share)) + 50)
        let lost = expected().filter { salvaged.values[$0.key] != $0.value }.count
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(salvaged.output.utf8)) as? [String: Any])
        let counted = try #require(report["lostRecordCount"] as? Int)
        #expect((lost...(lost + 3)).contains(counted))
    }

    /// Of 4 KiB in the middle, as a page that could not be read, the groups are lost; the next one is found though nothing
    /// says any more where it is.
    @Test func groupsBehindDamageAreFoundWithoutTheirOffsets() async throws {
        let salvaged = try await salvage { path in
            let name = try #require(try fileNames(in: path, prefix: "snapshot-").first)
            var bytes = try readBytes("\(path)/\(name)")
            bytes.removeLast(SnapshotFooter.sizeBytes + 100)
            for place in (bytes.count / 3)..<(bytes.count / 3 + 4096) { bytes[place] = 0 }
            try writeBytes(bytes, to: "\(path)/\(name)")
        }
        try checkLost(salvaged, atMost: 600)
        let lost = expected().keys.filter { salvaged.values[$0] == nil }.sorted()
        // They are neighbours.
        let (first, last) = (try #require(lost.first), try #require(lost.last))
        #expect(expected().keys.filter { $0 >= first && $0 <= last }.count <= lost.count + 2)
    }

    @Test func withoutTheManifestNobodyKnowsWhetherAllWasFound() async throws {
        let salvaged = try await salvage { path in
            try FileManager.default.removeItem(atPath: "\(path)/MANIFEST")
            let name = try #require(try fileNames(in: path, prefix: "snapshot-").first)
            let count = try readBytes("\(path)/\(name)").count
            try flipBits("\(path)/\(name)", at: count - 20)
        }
        #expect(salvaged.status == 3)
        #expect(salvaged.output.contains(#""isLossCounted":false"#))
        #expect(expected().allSatisfy { salvaged.values[$0.key] == $0.value })
    }

    @Test func aSnapshotWithoutFooterAndPrefaceIsLost() async throws {
        let salvaged = try await salvage { path in
            let name = try #require(try fileNames(in: path, prefix: "snapshot-").first)
            let bytes = try readBytes("\(path)/\(name)")
            let footer = try footer(of: bytes)
            try flipBits("\(path)/\(name)", at: bytes.count - 20)
            try flipBits("\(path)/\(name)", at: Int(try #require(footer.prefaceOffset)) + 50)
        }
        try checkLost(salvaged, atMost: 1200)
        #expect(salvaged.values.count > 500)
    }

    /// Only a salvage does without a footer: what an opening took for sound would be written on with.
    @Test(arguments: [true, false]) func anOpeningRefusesWhatASalvageReads(isLonger: Bool)
        async throws
    {
        try await withTemporaryDirectory { path in
            try await makeWorkspace(at: "\(path)/w")
            let name = try #require(try fileNames(in: "\(path)/w", prefix: "snapshot-").first)
            let bytes = try readBytes("\(path)/w/\(name)")
            try writeBytes(
                isLonger ? bytes + [1] : Array(bytes.dropLast()), to: "\(path)/w/\(name)")
            let error = await #expect(throws: RoostError.self) {
                _ = try await Workspace.open(at: "\(path)/w")
            }
            #expect(error?.code == .corrupt)
            #expect(try await Tool.run("get", "\(path)/w", "d", key(5)).status == 3)
            let repaired = try await Tool.run("repair", "\(path)/w")
            #expect(repaired.status == 0, "\(repaired.output) \(repaired.errors)")
            #expect(try await Tool.run("get", "\(path)/w", "d", key(5)).output == "value 5\n")
        }
    }

    // MARK: The report

    /// Values of two kinds by turns: compressed ones, which a damaged dictionary costs, and short ones.
    private func makeCompressed(at path: String) async throws {
        let workspace = try await Workspace.open(
            at: path, configuration: .init(shardCount: 1, durability: .process))
        let dictionary = workspace.dictionary("d")
        for begin in stride(from: 0, to: 6000, by: 1000) {
            try await workspace.write { batch in
                for number in begin..<(begin + 1000) {
                    let text =
                        "{\"name\": \"somebody with the number \(number)\", \"address\": \"the street of the house \(number * 7)\"}"
                    batch.set(
                        number % 5 == 0 ? "\(number)" : text, forKey: key(number), in: dictionary)
                }
            }
        }
        try await workspace.compact()
        try await workspace.close()
    }

    /// Flips a byte of the dictionaries of a workspace's snapshot, of which it has two.
    private func damageDictionaries(_ which: [Int], of path: String) throws {
        let name = try #require(try fileNames(in: path, prefix: "snapshot-").first)
        let footer = try footer(of: try readBytes("\(path)/\(name)"))
        let offsets = [footer.dictionaryOffset, try #require(footer.secondDictionaryOffset)]
        for number in which { try flipBits("\(path)/\(name)", at: Int(offsets[number]) + 84) }
    }

    @Test(arguments: [0, 1]) func oneDamagedDictionaryCostsNothing(_ which: Int) async throws {
        try await withTemporaryDirectory { path in
            try await makeCompressed(at: "\(path)/w")
            try damageDictionaries([which], of: "\(path)/w")
            let verified = try await Tool.run("verify", "\(path)/w")
            #expect(verified.status == 3)
            #expect(
                (verified.output + verified.errors).contains("compression dictionary's checksum"))
            let workspace = try await Workspace.open(at: "\(path)/w")
            let dictionary = workspace.dictionary("d")
            for number in 0..<6000 {
                let value = try dictionary.value(forKey: key(number), as: String.self)
                #expect(value?.contains("\(number)") == true)
            }
            try await workspace.close()
            let salvaged = try await Tool.run("salvage", "\(path)/w", "\(path)/t")
            #expect(salvaged.status == 0, "\(salvaged.output)")
            #expect(try await Tool.run("keys", "\(path)/t", "d").lines.count == 6000)
        }
    }

    @Test func damagedDictionariesAreOneLine() async throws {
        try await withTemporaryDirectory { path in
            try await makeCompressed(at: "\(path)/w")
            try damageDictionaries([0, 1], of: "\(path)/w")
            let salvaged = try await Tool.run("salvage", "\(path)/w", "\(path)/t")
            #expect(salvaged.status == 3)
            #expect(salvaged.lines.count == 2, "\(salvaged.lines.prefix(4))")
            let kept = try await Tool.run("keys", "\(path)/t", "d").lines.count
            #expect(kept >= 1200 && kept < 6000)
            let lost = 6000 - kept
            #expect(salvaged.lines.first?.contains("\(lost) of them known") == true)
            #expect(salvaged.lines.last?.contains("lost: up to \(grouped(lost)) records") == true)
        }
    }

    private func footer(of bytes: [UInt8]) throws -> SnapshotFooter {
        struct NoSnapshot: Error {}
        guard case .valid(let footer) = bytes.withUnsafeBytes(SnapshotFooter.read) else {
            throw NoSnapshot()
        }
        return footer
    }
}
