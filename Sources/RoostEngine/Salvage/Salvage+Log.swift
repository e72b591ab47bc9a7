import RoostFormat
import RoostIO
import RoostLog

extension Salvage {
    /// Finds the log's frames. A batch that is missing among them is a loss where anything says
    /// that it was on disk; else it is where the log ends, as at an opening.
    mutating func readLog() throws {
        let first = manifest?.firstSegment ?? 0
        var numbers: [UInt64] = []
        for case .segment(let number)? in entries.map({ FileName($0.name) }) where number >= first {
            numbers.append(number)
        }
        var found: [Found] = []
        var durable = max(manifest?.durableSequence ?? 0, manifest?.flushedSequence ?? 0)
        for number in numbers.sorted() { try read(number, &found, &durable) }
        settle(found, durable)
    }

    /// A frame, or a place where one should be, in the order of the log.
    private struct Found {
        var file: String
        var offset: Int
        /// `nil` where a stretch of the file does not check.
        var sequence: UInt64?
    }

    private mutating func read(
        _ number: UInt64, _ found: inout [Found], _ durable: inout UInt64
    ) throws {
        let reader: LogReader
        do {
            reader = try LogReader(number: number, in: directory, writable: false)
        } catch let error as RoostError where error.code != .unsupportedVersion {
            report.losses.append(
                .init(file: FileName.segment(number).text, offset: nil, reason: error.message))
            return
        }
        if case .unsupported(let version) = reader.header {
            throw RoostError(
                .unsupportedVersion,
                "the log segment is of format \(version); this version reads \(Limits.formatVersion)",
                file: reader.file.path, offset: 8)
        }
        if reader.isBlank { return }
        report.fileCount += 1
        guard let seed = reader.salvagedSeed else {
            found.append(Found(file: reader.name, offset: 0, sequence: nil))
            return
        }
        if case .valid(let header) = reader.header {
            durable = max(durable, header.durableSequence)
        }
        segments.append((reader, seed))
        let end = reader.forEachSalvagedFrame(seed) { offset in
            found.append(Found(file: reader.name, offset: offset, sequence: nil))
        } _: { frame in
            let offset = frame.start - UnsafeRawPointer(reader.region.base)
            found.append(Found(file: reader.name, offset: offset, sequence: frame.sequence))
            durable = max(durable, frame.durableSequence)
        }
        if reader.contentEnd(from: end) > end {
            found.append(Found(file: reader.name, offset: end, sequence: nil))
        }
    }

    private mutating func settle(_ found: [Found], _ durable: UInt64) {
        // Where the log that is there begins says nothing of what was before it, without a manifest.
        var last =
            manifest?.flushedSequence ?? (found.first { $0.sequence != nil }?.sequence ?? 1) - 1
        var gap: Found?
        for item in found {
            guard let sequence = item.sequence else {
                gap = gap ?? item
                continue
            }
            guard sequence > last else { continue }
            if sequence > last + 1 {
                let place = gap ?? item
                guard durable > last else {
                    lastSequence = last
                    noteGap(place, (last + 1)...sequence, isTorn: true)
                    break
                }
                noteGap(place, (last + 1)...(sequence - 1), isTorn: false)
            }
            gap = nil
            last = sequence
        }
        if lastSequence == .max, durable > last || gap != nil {
            let place = gap ?? Found(file: FileName.manifest.text, offset: 0, sequence: nil)
            noteGap(place, durable > last ? (last + 1)...durable : nil, isTorn: durable <= last)
        }
        noteOperations()
    }

    private mutating func noteGap(_ place: Found, _ sequences: ClosedRange<UInt64>?, isTorn: Bool) {
        report.losses.append(
            .init(
                file: place.file, offset: UInt64(place.offset),
                reason: isTorn ? "the unfinished end of the log" : "batches are damaged or missing",
                sequences: sequences, isTornTail: isTorn))
    }

    private mutating func noteOperations() {
        for (reader, seed) in segments {
            _ = reader.forEachSalvagedFrame(seed) { _ in
            } _: { frame in
                guard frame.sequence <= lastSequence else { return }
                _ = frame.forEachOperation { operation in
                    let key = Array(operation.key)
                    if operation.rawKind == Operation.Kind.clear.rawValue {
                        clears[key] = max(clears[key] ?? 0, frame.sequence)
                    } else {
                        note(
                            key, frame.sequence, isPut: operation.isPut,
                            at: .log(operation.location))
                    }
                }
            }
        }
    }
}
