#if Replica
    import Roost
    import RoostEngine

    /// What was the last batch at a moment.
    struct Mark: Sendable, Equatable {
        /// Milliseconds since 1970.
        var time: UInt64
        var sequence: UInt64
    }

    /// What an entry of kind `frames` holds.
    struct FramesPayload: Sendable {
        /// Ascending.
        var marks: [Mark]
        var runs: [LogTap.Run]

        func encoded() -> [UInt8] {
            var writer = FieldWriter()
            writer.append(UInt64(marks.count))
            for mark in marks {
                writer.append(mark.time)
                writer.append(mark.sequence)
            }
            writer.append(UInt64(runs.count))
            for run in runs {
                writer.append(run.seed)
                writer.append(counted: run.bytes)
            }
            return writer.bytes
        }

        init(marks: [Mark], runs: [LogTap.Run]) {
            self.marks = marks
            self.runs = runs
        }

        init(_ entry: JournalEntry) throws {
            var reader = PayloadReader(entry)
            marks = try reader.list(ofAtLeast: 16) {
                Mark(time: try $0.word(), sequence: try $0.word())
            }
            runs = try reader.list(ofAtLeast: 12) {
                LogTap.Run(seed: try $0.half(), bytes: Array(try $0.counted()))
            }
            try reader.end()
        }

        /// The last moment that `entry`, whose payload this is, says anything of.
        func lastTime(_ entry: JournalEntry) -> UInt64 {
            if marks.isEmpty && runs.isEmpty { return entry.standing.time }
            return marks.last?.time ?? 0
        }
    }

    /// What an entry of kind `base` holds.
    struct BasePayload: Sendable {
        /// The object that lists the base's snapshots, and its digest.
        var name: String
        var digest: [UInt8]
        /// The index of the base before, of whichever history; zero where there is none.
        var earlier: UInt64

        func encoded() -> [UInt8] {
            var writer = FieldWriter()
            writer.append(earlier)
            writer.append(name)
            writer.append(counted: digest)
            return writer.bytes
        }

        init(name: String, digest: [UInt8], earlier: UInt64) {
            self.name = name
            self.digest = digest
            self.earlier = earlier
        }

        init(_ entry: JournalEntry) throws {
            var reader = PayloadReader(entry)
            earlier = try reader.word()
            name = try reader.text()
            digest = Array(try reader.counted())
            try reader.end()
        }
    }

    /// What an entry of kind `removal` holds. Nothing in it belongs to the base that is the newest before the
    /// entry; what is left of it after a crash, the next removal finds again.
    struct RemovalPayload: Sendable, Equatable {
        /// Bases and snapshots.
        var names: [String] = []
        /// All entries of the journal before this one go, but for takeovers: whoever was overtaken
        /// finds out by them. Empty objects, which are none, stay.
        var entriesBefore: UInt64 = 0

        func encoded() -> [UInt8] {
            var writer = FieldWriter()
            writer.append(entriesBefore)
            writer.append(UInt64(names.count))
            for name in names { writer.append(name) }
            return writer.bytes
        }

        init(names: [String] = [], entriesBefore: UInt64 = 0) {
            self.names = names
            self.entriesBefore = entriesBefore
        }

        init(_ entry: JournalEntry) throws {
            var reader = PayloadReader(entry)
            entriesBefore = try reader.word()
            names = try reader.list(ofAtLeast: 8) { try $0.text() }
            try reader.end()
        }
    }

    /// What an entry of kind `takeover` holds.
    struct TakeoverPayload: Sendable {
        /// The takeover before; none in the first.
        var earlier: UInt64?
        /// Who it was, for people: a host and a process.
        var name: String

        func encoded() -> [UInt8] {
            var writer = FieldWriter()
            writer.append(earlier ?? .max)
            writer.append(name)
            return writer.bytes
        }

        init(earlier: UInt64?, name: String) {
            self.earlier = earlier
            self.name = name
        }

        init(_ entry: JournalEntry) throws {
            var reader = PayloadReader(entry)
            let index = try reader.word()
            earlier = index == .max ? nil : index
            name = try reader.text()
            try reader.end()
        }
    }

    /// Reads the payload of an entry, whose checksum holds.
    private struct PayloadReader {
        private var fields: FieldReader

        init(_ entry: JournalEntry) {
            fields = FieldReader(checked: entry.payload, name: ObjectName.entry(entry.index))
        }

        mutating func word() throws -> UInt64 { try fields.word() }
        mutating func text() throws -> String { try fields.text() }
        mutating func counted() throws -> ArraySlice<UInt8> { try fields.counted() }

        mutating func list<Element>(
            ofAtLeast sizeBytes: Int, _ element: (inout FieldReader) throws -> Element
        ) throws -> [Element] {
            let count = try fields.count(ofAtLeast: sizeBytes)
            var list: [Element] = []
            for _ in 0..<count { list.append(try element(&fields)) }
            return list
        }

        func end() throws { if !fields.isAtEnd { throw fields.senseless() } }
    }
#endif
