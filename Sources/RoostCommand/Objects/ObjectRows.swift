import Roost

/// Writes objects: in a table and in CSV a column for each member, in JSON the key and the object.
///
/// - The columns are those of the first objects, whose number is bounded, or what `fields` says. What
///   later ones have beside is noted.
struct ObjectRows {
    private let format: OutputFormat
    private let output: Output
    private let isOfFields: Bool
    private var columns: [Column]?
    private var rows: RowWriter?
    private var waiting: [StoredObject] = []
    private(set) var hiddenMembers: Set<String> = []
    private(set) var count = 0

    private static let measuredCount = 200

    private struct Column {
        let name: String
        /// What `--fields` names is a path; a member that an object has may itself have a point in its name.
        let path: ObjectCondition.MemberPath

        func member(of object: StoredObject) -> JSONValue.Member {
            .init(name: name, value: path.value(in: object.tree) ?? .null)
        }
    }

    init(fields: [String]?, format: OutputFormat, output: Output) {
        self.format = format
        self.output = output
        columns = fields?.map { Column(name: $0, path: .init($0)) }
        isOfFields = fields != nil
        switch format {
        case .json, .jsonl:
            rows = RowWriter(columns: ["key", "value"], format: format, output: output)
        default: if let columns { begin(columns) }
        }
    }

    private mutating func begin(_ columns: [Column]) {
        self.columns = columns
        rows = RowWriter(
            columns: ["key"] + columns.map(\.name), format: format, output: output)
    }

    mutating func write(_ object: StoredObject) throws {
        count += 1
        guard rows != nil else {
            waiting.append(object)
            if waiting.count == Self.measuredCount { try beginMeasured() }
            return
        }
        try writeRow(object)
    }

    mutating func finish() throws {
        if rows == nil { try beginMeasured() }
        try rows?.finish()
    }

    private mutating func beginMeasured() throws {
        var names: [String] = []
        for object in waiting {
            for member in object.members where !names.contains(member.name) {
                names.append(member.name)
            }
        }
        begin(names.map { Column(name: $0, path: .init(names: [$0])) })
        for object in waiting { try writeRow(object) }
        waiting = []
    }

    private mutating func writeRow(_ object: StoredObject) throws {
        guard let columns, format != .json, format != .jsonl else {
            let shown = columns.map { JSONValue.object($0.map { $0.member(of: object) }) }
            try rows?.write([.string(object.key), shown ?? object.tree])
            return
        }
        if !isOfFields {
            let names = Set(columns.map(\.name))
            hiddenMembers.formUnion(object.members.map(\.name).filter { !names.contains($0) })
        }
        try rows?.write([.string(object.key)] + columns.map { $0.member(of: object).value })
    }
}

extension StoredObject {
    var members: [JSONValue.Member] { if case .object(let members) = tree { members } else { [] } }
}
