import Roost

/// Writes objects: in a table and in CSV a column for each member, in JSON the key and the object.
///
/// - The columns are those of the first objects, whose number is bounded, or what `fields` says. What
///   later ones have beside is noted.
struct ObjectRows {
    private let format: OutputFormat
    private let output: Output
    private let isOfFields: Bool
    private var columns: [String]?
    private var rows: RowWriter?
    private var waiting: [StoredObject] = []
    private(set) var hiddenMembers: Set<String> = []
    private(set) var count = 0

    private static let measuredCount = 200

    init(fields: [String]?, format: OutputFormat, output: Output) {
        self.format = format
        self.output = output
        columns = fields
        isOfFields = fields != nil
        switch format {
        case .json, .jsonl:
            rows = RowWriter(columns: ["key", "value"], format: format, output: output)
        default: if let fields { begin(fields) }
        }
    }

    private mutating func begin(_ fields: [String]) {
        columns = fields
        rows = RowWriter(columns: ["key"] + fields, format: format, output: output)
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
        begin(names)
        for object in waiting { try writeRow(object) }
        waiting = []
    }

    private mutating func writeRow(_ object: StoredObject) throws {
        guard let columns, format != .json, format != .jsonl else {
            let shown = columns.map { JSONValue.object($0.map { object.shown($0) }) }
            try rows?.write([.string(object.key), shown ?? object.tree])
            return
        }
        if !isOfFields {
            hiddenMembers.formUnion(object.members.map(\.name).filter { !columns.contains($0) })
        }
        try rows?.write([.string(object.key)] + columns.map { object.shown($0).value })
    }
}

extension StoredObject {
    var members: [JSONValue.Member] { if case .object(let members) = tree { members } else { [] } }

    fileprivate func shown(_ field: String) -> JSONValue.Member {
        .init(name: field, value: ObjectCondition.MemberPath(field).value(in: tree) ?? .null)
    }
}
