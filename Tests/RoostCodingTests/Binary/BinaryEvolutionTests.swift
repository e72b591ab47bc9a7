import RoostCoding
import RoostIO
import Testing

/// The first version of a model.
private struct OldNote: BinaryCodable, Equatable {
    var title: String
    var stars: Int32

    func encode(into writer: inout BinaryWriter) {
        writer.field(1, title)
        writer.field(2, stars)
    }

    init(title: String, stars: Int32) { (self.title, self.stars) = (title, stars) }

    init(from reader: inout BinaryReader) throws {
        title = try reader.field(1)
        stars = try reader.field(2)
    }
}

/// A later version: `stars` is wider, and there are more fields, of every wire type.
private struct NewNote: BinaryCodable, Equatable {
    var author: String?
    var title: String
    var stars: Int
    var tags: [String] = []
    var weight: Float = 1
    var limit: Double? = 5

    func encode(into writer: inout BinaryWriter) {
        writer.field(1, title)
        writer.field(2, stars)
        writer.field(3, tags)
        writer.field(4, author)
        writer.field(20, weight)
        writer.field(3_000, limit)
    }

    init(title: String, stars: Int) { (self.title, self.stars) = (title, stars) }

    init(from reader: inout BinaryReader) throws {
        // In another order than that of writing.
        author = try reader.field(4)
        title = try reader.field(1)
        limit = try reader.field(3_000, default: 5)
        stars = try reader.field(2)
        tags = try reader.field(3, default: [])
        weight = try reader.field(20, default: 1)
    }
}

/// What another writer may do: fields in descending order.
private struct BackwardsNote: BinaryCodable {
    var note: NewNote

    func encode(into writer: inout BinaryWriter) {
        writer.field(3_000, note.limit)
        writer.field(20, note.weight)
        writer.field(3, note.tags)
        writer.field(1, note.title)
        writer.field(4, note.author)
        writer.field(2, note.stars)
    }

    init(_ note: NewNote) { self.note = note }

    init(from reader: inout BinaryReader) throws { note = try NewNote(from: &reader) }
}

/// Reads in the order in which it writes, which is not that of the numbers.
private struct UnorderedNote: BinaryCodable, Equatable {
    var a: Int
    var b: Int
    var note: String?
    var c: Int
    var d = 0

    func encode(into writer: inout BinaryWriter) {
        writer.field(3, a)
        writer.field(1, b)
        writer.field(5, note)
        writer.field(2, c)
        writer.field(4, d)
    }

    init(a: Int, b: Int, note: String?, c: Int, d: Int) {
        (self.a, self.b, self.note, self.c, self.d) = (a, b, note, c, d)
    }

    init(from reader: inout BinaryReader) throws {
        a = try reader.field(3)
        b = try reader.field(1)
        note = try reader.field(5)
        c = try reader.field(2)
        d = try reader.field(4, default: 0)
    }
}

/// Fields in any order of writing, read in any other.
private struct Scattered: BinaryCodable, Equatable {
    @TaskLocal static var readNumbers: [Int] = []
    var written: [Int]
    var read: [Int: Int] = [:]

    func encode(into writer: inout BinaryWriter) {
        for number in written { writer.field(number, number * 7) }
    }

    init(written: [Int]) { self.written = written }

    init(from reader: inout BinaryReader) throws {
        written = []
        for number in Self.readNumbers { read[number] = try reader.field(number, as: Int?.self) }
    }
}

private typealias Share = Double?
private typealias Remark = String?

/// Fields with defaults whose types do not say that they are optional, as the macro writes them.
private struct Defaulted: BinaryCodable, Equatable {
    var share: Share = .infinity
    var remark: Remark = "none"
    var count = 3
    var names: [String]? = ["a"]

    func encode(into writer: inout BinaryWriter) {
        writer.defaultedField(1, share)
        writer.defaultedField(2, remark)
        writer.defaultedField(3, count)
        writer.defaultedField(3_000, names)
    }

    init(share: Share, remark: Remark, count: Int, names: [String]?) {
        (self.share, self.remark, self.count, self.names) = (share, remark, count, names)
    }

    init(from reader: inout BinaryReader) throws {
        share = try reader.defaultedField(1, as: Share.self, default: .infinity)
        remark = try reader.defaultedField(2, as: Remark.self, default: "none")
        count = try reader.defaultedField(3, as: Int.self, default: 3)
        names = try reader.defaultedField(3_000, default: ["a"])
    }
}

@Suite struct BinaryEvolutionTests {
    @Test func newReadsOld() throws {
        let bytes = try BinaryWriter.encode(OldNote(title: "a", stars: -3))
        let note = try BinaryReader.decode(NewNote.self, from: bytes)
        #expect(note == NewNote(title: "a", stars: -3))
    }

    @Test func nilIsToldFromADefaultWhereTheTypeDoesNotSayThatItIsOptional() throws {
        for share in [nil, 0.25] as [Share] {
            for remark in [nil, "", "x"] as [Remark] {
                for names in [nil, [], ["b", ""]] as [[String]?] {
                    try roundTrip(
                        Defaulted(share: share, remark: remark, count: 7, names: names))
                }
            }
        }
        let missing = try BinaryReader.decode(Defaulted.self, from: [])
        #expect(missing == Defaulted(share: .infinity, remark: "none", count: 3, names: ["a"]))
        let values = Defaulted(share: 0.25, remark: "x", count: 7, names: ["b"])
        #expect(
            try BinaryWriter.encode(values)
                == hex("09 000000000000d03f 120178 180e c2bb01 02 0162"))
        let none = Defaulted(share: nil, remark: nil, count: 7, names: nil)
        #expect(try BinaryWriter.encode(none) == hex("0a00 1000 180e c0bb0100"))
        #expect(expectFailure(Defaulted.self, hex("0a01 00")).contains("nil"))
        expectFailure(Defaulted.self, hex("0800"))
    }

    @Test func oldReadsNew() throws {
        var note = NewNote(title: "a", stars: 7)
        note.author = "me"
        note.tags = ["x", "y"]
        let bytes = try BinaryWriter.encode([note, note])
        let old = OldNote(title: "a", stars: 7)
        #expect(try BinaryReader.decode([OldNote].self, from: bytes) == [old, old])
    }

    @Test func oldRefusesWhatDoesNotFit() throws {
        let bytes = try BinaryWriter.encode(NewNote(title: "a", stars: 1 << 40))
        expectFailure(OldNote.self, bytes)
    }

    @Test func anyOrderIsRead() throws {
        var note = NewNote(title: "a", stars: 7)
        note.tags = ["x"]
        for author in [nil, "me"] {
            note.author = author
            let bytes = try BinaryWriter.encode(BackwardsNote(note))
            #expect(try BinaryReader.decode(NewNote.self, from: bytes) == note)
            let old = try BinaryReader.decode(OldNote.self, from: bytes)
            #expect(old == OldNote(title: "a", stars: 7))
            for count in 0..<bytes.count {
                expectFailure(BackwardsNote.self, Array(bytes[..<count]))
            }
        }
    }

    @Test(arguments: [nil, "x"] as [String?])
    func whatIsWrittenAndReadInAnotherOrderThanThatOfTheNumbersIsRead(note: String?) throws {
        for d in [0, 8] { try roundTrip(UnorderedNote(a: 1, b: 2, note: note, c: 3, d: d)) }
    }

    @Test func fieldsInAnyOrderAreFoundInAnyOrder() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20_000 {
            // Some with tags of two bytes.
            let numbers = (0..<Int.random(in: 0..<8, using: &random)).map { _ in
                Int.random(in: 1...20, using: &random)
            }
            let written = Set(numbers).sorted().shuffled(using: &random)
            // In the order of writing with others between too, as a type has it that was written by hand.
            var read =
                Bool.random(using: &random) ? written : written.shuffled(using: &random)
            for other in Set(1...20).subtracting(written).sorted()
            where Int.random(in: 0..<6, using: &random) == 0 {
                read.insert(other, at: Int.random(in: 0...read.count, using: &random))
            }
            let bytes = try BinaryWriter.encode(Scattered(written: written))
            let found = try Scattered.$readNumbers.withValue(read) {
                try BinaryReader.decode(Scattered.self, from: bytes).read
            }
            let expected = Dictionary(uniqueKeysWithValues: written.map { ($0, $0 * 7) })
            guard found == expected else {
                Issue.record("seed \(seed): written \(written), read \(read): \(found)")
                return
            }
        }
    }

    @Test func anEmptyStructSkipsEverything() throws {
        struct Empty: BinaryCodable {
            func encode(into writer: inout BinaryWriter) {}
            init(from reader: inout BinaryReader) {}
        }
        let bytes = try BinaryWriter.encode(NewNote(title: "a", stars: 7))
        _ = try BinaryReader.decode(Empty.self, from: bytes)
        expectFailure(Empty.self, hex("00"))
        expectFailure(Empty.self, hex("0a 05"))
    }

    @Test func aMissingFieldNamesTypeAndNumber() throws {
        let message = expectFailure(OldNote.self, hex("0a 01 61"))
        #expect(message.contains("OldNote"))
        #expect(message.contains("field 2"))
        #expect(expectFailure([OldNote].self, hex("03 02 10 02")).contains("OldNote: field 1"))
    }

    @Test func aFieldOfAnotherWireTypeIsAnError() {
        let message = expectFailure(OldNote.self, hex("08 01 10 02"))
        #expect(message.contains("field 1 has wire type 0"))
    }

    @Test func anUnknownCaseIsAnError() {
        #expect(expectFailure(Shape.self, hex("07")).contains("Shape: there is no case number 7"))
    }

    @Test func aCaseSkipsFieldsThatItDoesNotKnow() throws {
        #expect(try BinaryReader.decode(Shape.self, from: hex("01 0a 01 61")) == .point)
    }
}
