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
            noteWrongKey(error)
            report.isLossCounted = false
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
        var frameCount = 0
        let end = reader.forEachSalvagedFrame(seed) { offset in
            found.append(Found(file: reader.name, offset: offset, sequence: nil))
        } _: { frame in
            let offset = frame.start - UnsafeRawPointer(reader.region.base)
            found.append(Found(file: reader.name, offset: offset, sequence: frame.sequence))
            frameCount += 1
            durable = max(durable, frame.durableSequence)
        }
        if reader.contentEnd(from: end) > end {
            found.append(Found(file: reader.name, offset: end, sequence: nil))
        }
        segments.append(Segment(reader: reader, seed: seed, frameCount: frameCount))
        // Where a page could not be read there are zeros, which may look like the log's end.
        noteUnreadable(reader)
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
        if !isTorn, let sequences {
            report.lostBatchCount += sequences.upperBound - sequences.lowerBound + 1
        }
        report.losses.append(
            .init(
                file: place.file, offset: UInt64(place.offset),
                reason: isTorn ? "the unfinished end of the log" : "batches are damaged or missing",
                sequences: sequences, isTornTail: isTorn))
    }

    /// What a frame does, read before it is known whether all of it could be.
    private struct Noted {
        var key: [UInt8]
        var isClear: Bool
        var isPut: Bool
        var location: UInt
    }

    /// Reads the frames once more, which the file may no longer have as `read` has found them.
    private mutating func noteOperations() {
        for segment in segments {
            let reader = segment.reader
            var frameCount = 0
            var failure: RoostError?
            _ = reader.forEachSalvagedFrame(segment.seed) { _ in
            } _: { frame in
                frameCount += 1
                guard frame.sequence <= lastSequence else { return }
                var noted: [Noted] = []
                _ = frame.forEachOperation { operation in
                    noted.append(
                        Noted(
                            key: Array(operation.key),
                            isClear: operation.rawKind == Operation.Kind.clear.rawValue,
                            isPut: operation.isPut, location: operation.location))
                }
                let offset = frame.start - UnsafeRawPointer(reader.region.base)
                failure =
                    failure ?? reader.region.readFailure(from: offset, count: frame.sizeBytes)
                if failure == nil { for one in noted { note(one, frame.sequence) } }
            }
            if failure != nil || frameCount != segment.frameCount { noteChanged(reader, failure) }
        }
    }

    private mutating func note(_ noted: Noted, _ sequence: UInt64) {
        if noted.isClear {
            clears[noted.key] = max(clears[noted.key] ?? 0, sequence)
        } else {
            note(noted.key, sequence, isPut: noted.isPut, at: .log(noted.location))
        }
    }

    private mutating func noteUnreadable(_ reader: LogReader) {
        if let failure = reader.region.readFailure() { noteChanged(reader, failure) }
    }

    private mutating func noteChanged(_ reader: LogReader, _ failure: RoostError?) {
        report.isLossCounted = false
        report.losses.append(
            .init(
                file: reader.name, offset: failure?.offset,
                reason: failure?.message
                    ?? "the file was changed while it was read: batches that were in it are not any more"
            ))
    }
}
