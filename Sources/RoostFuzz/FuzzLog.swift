import RoostFormat
import RoostIO
import RoostLog

/// A segment whose header checks, of frames that check with payloads from the fuzzer, and after
/// them bytes as they are; recovered, and salvaged.
func fuzzLog(_ input: FuzzBytes) throws {
    var input = input
    let workspace = WorkspaceIdentifier(first: 1, second: 2)
    var header = SegmentHeader(
        number: 1, firstSequence: 1, durableSequence: UInt64(input.next() & 3),
        workspace: workspace,
        salt: 0x8000_0001, capacityPages: 1)
    let isRaw = input.next() & 1 == 1
    if isRaw { header.durableSequence = 0 }
    var segment = [UInt8](repeating: 0, count: header.capacityBytes)
    segment.withUnsafeMutableBytes { bytes in
        header.write(to: bytes.baseAddress!)
        var offset = SegmentHeader.sizeBytes
        var sequence: UInt64 = 0
        while !isRaw, !input.isAtEnd {
            let kind = input.next()
            let payload = input.next(input.nextHalf() % 2048)
            let size = Frame.sizeBytes(payloadCount: payload.count)
            guard offset + size <= bytes.count else { break }
            // Mostly the number that is due.
            sequence = kind & 0xf0 == 0xf0 ? UInt64(kind & 15) : sequence + 1
            bytes[(offset + Frame.headerSizeBytes)...].copyBytes(from: payload)
            Frame.finish(
                at: bytes.baseAddress! + offset, payloadCount: payload.count, sequence: sequence,
                durableSequence: min(sequence, UInt64(kind >> 2 & 3)),
                flags: Frame.Flags(rawValue: UInt32(kind & 3)), seed: header.seed)
            offset += size
        }
        bytes[offset...].copyBytes(from: input.rest.prefix(bytes.count - offset))
    }
    let directory = try FuzzDirectory.make([FileName.segment(1).text: segment])
    let reader = try LogReader(number: 1, in: directory, writable: false)
    if let seed = reader.salvagedSeed {
        _ = reader.forEachSalvagedFrame(seed, onBreak: { _ in }, touch)
    }
    let manifest = ManifestRecord(
        workspace: workspace, hashSeed: .init(first: 3, second: 4))
    var recovery = try LogRecovery(
        segmentNumbers: [1], manifest: manifest, directory: directory, writable: true
    ) { frame, _ in touch(frame) }
    let last = recovery.lastSequence
    try recovery.cut(in: directory)
    guard !recovery.readers.isEmpty,
        try directory.entries().contains(where: { $0.name == FileName.segment(1).text })
    else { return }
    // What was cut opens again as it was kept.
    let again = try LogRecovery(
        segmentNumbers: [1], manifest: manifest, directory: directory, writable: true
    ) { frame, _ in touch(frame) }
    guard again.lastSequence == last else {
        fatalError("\(last) batches, then \(again.lastSequence)")
    }
}

/// Looks at every byte of the operations.
private func touch(_ frame: Frame.View) {
    var sum: UInt8 = 0
    _ = frame.forEachOperation { operation in
        for byte in operation.key { sum &+= byte }
        for byte in operation.value { sum &+= byte }
        _ = splitRecordKey(operation.key)
    }
    withExtendedLifetime(sum) {}
}

enum FuzzDirectory {
    /// A directory in memory of these files.
    static func make(_ files: [String: [UInt8]]) throws -> any Directory {
        let directory = try MemoryFileSystem().openDirectory(at: "/fuzz", create: true)
        for (name, bytes) in files {
            let file = try directory.createFile(name)
            try bytes.withUnsafeBytes { try file.write($0, at: 0) }
        }
        return directory
    }
}
