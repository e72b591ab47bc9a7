import RoostCoding
import RoostIO
import Testing

private struct Folder: Codable, Hashable {
    var name: String
    var subfolders: Set<Folder> = []

    /// Folders inside one another, each with a leaf beside it.
    static func chain(_ depth: Int) -> Folder {
        (0..<depth).reduce(Folder(name: "end")) { inner, level in
            Folder(name: "\(level)", subfolders: [inner, Folder(name: "leaf \(level)")])
        }
    }
}

/// A folder as it is stored: its subfolders are in the order in which they were written.
private struct StoredFolder: Codable {
    var name: String
    var subfolders: [StoredFolder]

    var folder: Folder { Folder(name: name, subfolders: Set(subfolders.map(\.folder))) }
}

/// Keys that hold sets.
private struct Group: Codable, Hashable {
    var members: Set<Folder>
}

@Suite struct CoderNestedSetTests {
    private let coder = RoostCoder()

    /// Expects the order of what each element encodes to by itself, everywhere.
    private func expectOrder(_ stored: StoredFolder) throws {
        let alone = try stored.subfolders.map { try coder.encode($0.folder) }
        #expect(alone == alone.sorted { $0.lexicographicallyPrecedes($1) })
        for inner in stored.subfolders { try expectOrder(inner) }
    }

    @Test(.timeLimit(.minutes(1))) func setsInsideSetsAreEachPutInOrderOnce() throws {
        let deep = Folder.chain(60)
        let bytes = try coder.encode(deep)
        #expect(try coder.decode(Folder.self, from: bytes) == deep)
        #expect(try coder.encode(coder.decode(Folder.self, from: bytes)) == bytes)
    }

    @Test func setsInsideSetsAreInTheOrderOfTheirBytes() throws {
        let folder = Folder(
            name: "root", subfolders: Set((0..<4).map(Folder.chain) + [Folder.chain(6)]))
        let stored = try coder.decode(StoredFolder.self, from: coder.encode(folder))
        #expect(stored.folder == folder)
        try expectOrder(stored)
    }

    @Test func setsInsideKeysOfDictionaries() throws {
        let groups = (0..<5).map {
            Group(members: [.chain($0), .chain($0 + 1), Folder(name: "x")])
        }
        let numbers = Dictionary(uniqueKeysWithValues: zip(groups, 0...))
        let bytes = try coder.encode(numbers)
        #expect(try coder.decode([Group: Int].self, from: bytes) == numbers)
        for _ in 0..<5 {
            let shuffled = Dictionary(uniqueKeysWithValues: zip(groups, 0...).shuffled())
            #expect(try coder.encode(shuffled) == bytes)
        }
    }

    /// Each set was put in order in an encoder of its own, whose depth began at zero: a deep value ended the process.
    @Test func setsThatAreNestedTooDeepAreRefused() throws {
        #expect {
            _ = try coder.encode(Folder.chain(3000))
        } throws: {
            ($0 as? RoostError)?.code == .encodingFailed
        }
        let deep = Folder.chain(100)
        #expect(try coder.decode(Folder.self, from: coder.encode(deep)) == deep)
    }
}
