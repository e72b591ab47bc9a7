import ArgumentParser
import Roost

/// `roost stat`: sizes and counts.
struct StatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stat", abstract: "Prints sizes and counts of a workspace.",
        discussion: "Changes nothing. Counting costs a pass over the keys and index entries.")

    @OptionGroup var source: WorkspaceArgument
    @OptionGroup var format: FormatOption

    func run() async throws {
        let figures = try await source.withWorkspace(.readOnly) { try Self.collect($0) }
        try Self.write(figures, format)
    }

    static func write(_ figures: [JSONValue.Member], _ format: FormatOption) throws {
        if format.isJSON { return try Output.write(.object(figures)) }
        try write(figures)
    }

    /// For people.
    static func write(_ figures: [JSONValue.Member]) throws {
        var lines: [String] = []
        for figure in figures { describe(figure.name, figure.value, to: &lines) }
        try Output.write(lines)
    }

    static func collect(_ workspace: Workspace) throws -> [JSONValue.Member] {
        let statistics = workspace.statistics
        let recovery = workspace.recovery
        let usage = try DiskUsage(directory: workspace.path)
        let dictionaries = try workspace.dictionaryNames.map { name in
            JSONValue.Member(
                name: name, value: .integer(try workspace.dictionary(name).count))
        }
        let tails = recovery.tornTails.map { tail in
            JSONValue.members([
                "file": .string(tail.file), "offset": .integer(tail.offset),
                "sizeBytes": .integer(tail.sizeBytes),
            ])
        }
        let indexes = try workspace.storedIndexes().map { index in
            let size = try workspace.size(of: index)
            return JSONValue.members([
                "repository": .string(index.dictionary), "name": .string(index.name),
                "shape": .string(index.shapeText), "state": .string(index.state.text),
                "entryCount": .integer(size.entryCount), "sizeBytes": .integer(size.sizeBytes),
            ])
        }
        return [
            .init(name: "dictionaries", value: .object(dictionaries)),
            .init(name: "indexes", value: .array(indexes)),
            .init(name: "fileCount", value: .integer(usage.fileCount)),
            .init(name: "fileSizeBytes", value: .integer(usage.sizeBytes)),
            .init(name: "allocatedBytes", value: .integer(usage.allocatedBytes)),
            .init(name: "snapshotCount", value: .integer(statistics.snapshotCount)),
            .init(name: "snapshotRecordCount", value: .integer(statistics.snapshotRecordCount)),
            .init(name: "snapshotSizeBytes", value: .integer(statistics.snapshotSizeBytes)),
            .init(name: "logKeyCount", value: .integer(statistics.logKeyCount)),
            .init(name: "logBatchCount", value: .integer(recovery.replayedBatchCount)),
            .init(name: "lastSequence", value: .integer(recovery.lastSequence)),
            .init(name: "tornTails", value: .array(tails)),
        ]
    }

    /// `logKeyCount: 12` as "log key count  12", a member of an object below its name.
    private static func describe(_ name: String, _ value: JSONValue, to lines: inout [String]) {
        let title = words(name)
        switch value {
        case .object(let members):
            lines.append("\(title)  \(grouped(members.count))")
            for member in members {
                guard case .number(let text) = member.value else { continue }
                lines.append("  \"\(member.name)\"  \(text) keys")
            }
        case .array(let elements):
            lines.append("\(title)  \(grouped(elements.count))")
            for element in elements { lines.append("  \(elementText(element))") }
        case .number(let text): lines.append("\(title)  \(Int(text).map { grouped($0) } ?? text)")
        default: lines.append("\(title)  \(value.text)")
        }
    }

    /// The members of an object without the marks of JSON.
    private static func elementText(_ element: JSONValue) -> String {
        guard case .object(let members) = element else { return element.text }
        return members.map { member in
            if case .string(let text) = member.value { return "\(member.name) \"\(text)\"" }
            return "\(member.name) \(member.value.text)"
        }.joined(separator: "  ")
    }

    private static func words(_ name: String) -> String {
        var text = ""
        for character in name {
            if character.isUppercase { text += " " }
            text += character.lowercased()
        }
        return text.padding(toWidth: 22)
    }
}

extension StoredIndex.State {
    /// For people and programs alike.
    var text: String {
        switch self {
        case .built: "built"
        case .building: "building"
        case .marked: "marked to be built anew"
        case .failed(let reason): "cannot be built: \(reason)"
        }
    }
}

extension String {
    /// The text with spaces after it up to `width` characters.
    func padding(toWidth width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }

    /// The text with spaces before it up to `width` characters.
    func rightAligned(toWidth width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
}
