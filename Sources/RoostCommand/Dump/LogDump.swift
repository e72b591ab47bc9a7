import Roost
import RoostFormat
import RoostIO
import RoostLog

/// Writes the operations of a log segment, one on a line: where its frame begins, the batch's
/// sequence number, what it does, and to what.
struct LogDump {
    let preview: ValuePreview
    let output: Output

    /// Opens segment `number`; `nil` where it is gone.
    func open(segment number: UInt64, in directory: any Directory) throws -> LogReader? {
        try directory.ifThere(FileName.segment(number).text) {
            try LogReader(number: number, in: directory, writable: false)
        }
    }

    func dump(_ reader: LogReader) throws {
        switch reader.header {
        case .blank: try output.writeLine("# \(reader.name): never begun")
        case .damaged:
            throw RoostError(
                .corrupt, "the segment's header does not check", file: reader.file.path, offset: 0)
        case .unsupported(let version):
            throw RoostError(
                .unsupportedVersion,
                "the segment is of format \(version); this version reads \(Limits.formatVersion)",
                file: reader.file.path, offset: 8)
        case .valid(let header): try dump(reader, header)
        }
    }

    private func dump(_ reader: LogReader, _ header: SegmentHeader) throws {
        try output.writeLine(
            "# \(reader.name): segment \(header.number), first batch \(header.firstSequence), "
                + "on disk when begun up to \(header.durableSequence), "
                + "\(grouped(header.capacityBytes)) bytes preallocated")
        let end = try reader.scan(header, expected: header.firstSequence) { frame in
            try dump(frame, of: reader)
        }
        let lastSequence = end.expected - 1
        let rest = reader.contentEnd(from: end.offset) - end.offset
        let state =
            if end.isSealed && end.isClean {
                "sealed behind batch \(lastSequence)"
            } else if end.isClean {
                "ends behind batch \(lastSequence), not sealed"
            } else if rest > 0 {
                "no whole batch behind \(lastSequence); \(grouped(rest)) bytes follow"
            } else {
                "cut behind batch \(lastSequence)"
            }
        try output.writeLine("# \(end.offset)  \(state)")
    }

    private func dump(_ frame: Frame.View, of reader: LogReader) throws {
        let offset = frame.start - UnsafeRawPointer(reader.region.base)
        let awaited = frame.flags.contains(.synced) ? "synced " : ""
        let isWhole = try frame.forEachOperation { operation in
            let what =
                switch Operation.Kind(rawValue: operation.rawKind) {
                case .put, .expiringPut:
                    "put  \(preview.key(operation.key))  \(preview.value(operation.value))"
                case .remove: "remove  \(preview.key(operation.key))"
                case .clear: "remove all  \(preview.dictionary(operation.key))"
                case nil: "operation \(operation.rawKind)"
                }
            try output.writeLine("\(offset)  \(frame.sequence)  \(awaited)\(what)")
        }
        guard isWhole else {
            throw RoostError(
                .corrupt, "a batch's operations make no sense", file: reader.file.path,
                offset: UInt64(offset))
        }
    }
}
