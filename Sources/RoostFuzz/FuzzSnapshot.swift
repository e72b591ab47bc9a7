import RoostFormat
import RoostIO
import RoostSnapshot

private let hashSeed = HashSeed(first: 1, second: 2)

/// A small snapshot as the store writes it, which the fuzzer's bytes are written over.
private let template: [UInt8] = {
    do {
        let directory = try FuzzDirectory.make([:])
        let dictionary = CompressionDictionary(
            bytes: Array("a value that says what others say".utf8), recordCount: 40)
        var writer = try SnapshotWriter(
            directory: directory, number: 1, workspace: .init(first: 1, second: 2),
            hashSeed: hashSeed, dictionary: dictionary, expectedRecordCount: 40)
        for number in 0..<40 {
            let key = Array("\u{1}dkey \(number / 10)\(number % 10)".utf8)
            let value = Array("a value that says what others say, and \(number)".utf8)
            try key.withUnsafeBytes { key in
                if number % 9 == 8 {
                    try writer.addTombstone(key: key, sequence: UInt64(number + 1))
                } else {
                    try value.withUnsafeBytes {
                        try writer.add(key: key, sequence: UInt64(number + 1), value: $0)
                    }
                }
            }
        }
        _ = try writer.finish()
        let file = try directory.openFile(FileName.snapshot(1).text, writable: false)
        var bytes = try file.read(count: Int(try file.sizeBytes()), at: 0)
        // The same in every process, so that what is found can be tried again.
        let saltOffset = bytes.count - SnapshotFooter.sizeBytes + 12
        bytes.replaceSubrange(saltOffset..<(saltOffset + 4), with: [1, 2, 3, 0x80])
        fixChecksums(&bytes)
        return bytes
    } catch { fatalError("\(error)") }
}()

/// The template with stretches replaced and all checksums made right again; read in every way.
func fuzzSnapshot(_ input: FuzzBytes) throws {
    var input = input
    let fixes = input.next() & 3 != 3
    var bytes = template
    while !input.isAtEnd {
        let offset = input.nextHalf() % bytes.count
        let stretch = input.next(Int(input.next() % 24) + 1)
        for (index, byte) in stretch.enumerated() where offset + index < bytes.count {
            bytes[offset + index] = byte
        }
    }
    if fixes { fixChecksums(&bytes) }
    let directory = try FuzzDirectory.make([FileName.snapshot(1).text: bytes])
    if let reader = try SnapshotReader.withoutFooter(number: 1, listed: nil, in: directory) {
        decodeHeads(reader)
        readFoundGroups(reader)
    }
    let reader = try SnapshotReader(number: 1, in: directory)
    decodeHeads(reader)
    for number in 0..<42 {
        let key = Array("\u{1}dkey \(number / 10)\(number % 10)".utf8)
        try ignoringDamage {
            try key.withUnsafeBytes { key in
                guard let record = try reader.find(key, hash: hashSeed.hash(key)), record.isPut
                else { return }
                try reader.withValue(of: record) { touch($0) }
            }
        }
    }
    let cursor = SnapshotCursor(reader)
    try cursor.moveToFirst()
    while let record = cursor.record {
        touch(cursor.key)
        if record.isPut { try ignoringDamage { try reader.withValue(of: record) { touch($0) } } }
        try cursor.moveToNext()
    }
}

/// As a salvage does that has no footer.
private func readFoundGroups(_ reader: SnapshotReader) {
    reader.forEachSalvagedGroup { salvaged in
        guard case .intact(let group, _, _) = salvaged,
            var cursor = RecordGroup.Cursor(group, firstKeyCount: reader.footer.firstKey.count)
        else { return }
        while !cursor.isAtEnd {
            guard let record = cursor.next() else { return }
            touch(record.suffix)
            touch(record.stored)
        }
    }
}

/// As ordered scans do, in either direction.
private func decodeHeads(_ reader: SnapshotReader) {
    withUnsafeTemporaryAllocation(byteCount: HeadRoom.usualSizeBytes, alignment: 64) { memory in
        var room = HeadRoom(in: memory.baseAddress!)
        defer { room.free() }
        reader.forEachSalvagedGroup { salvaged in
            guard case .intact(let group, _, _) = salvaged else { return }
            for isReversed in [false, true] {
                let isWhole = room.decode(
                    group, firstKey: reader.footer.firstKey, isReversed: isReversed, prefixCount: 0)
                guard isWhole else { continue }
                for index in 0..<room.count {
                    touch(room.heads[index].key)
                    touch(room.heads[index].stored)
                }
            }
        }
    }
}

/// As long as the fuzzer has not changed where the parts are.
private func fixChecksums(_ bytes: inout [UInt8]) {
    bytes.withUnsafeMutableBytes { file in
        let base = file.baseAddress!
        let end = base + (file.count - SnapshotFooter.sizeBytes)
        func fixFooter() { end.store(ChecksumSeed(0).checksum(end, count: 188), at: 188) }
        fixFooter()
        guard case .valid(let footer) = SnapshotFooter.read(UnsafeRawBufferPointer(file)) else {
            return
        }
        let dictionary = UnsafeRawBufferPointer(
            start: base + Int(footer.dictionaryOffset), count: Int(footer.dictionaryCount))
        end.store(footer.dictionarySeed.checksum(dictionary), at: 100)
        fixFooter()
        if let preface = footer.prefaceOffset {
            fixPreface(base + Int(preface), footer, dictionary)
        }
        var offset = Int(footer.groupsOffset)
        for index in 0..<min(Int(footer.groupCount), 100) {
            guard offset + RecordGroup.headerSizeBytes <= Int(footer.offsetsOffset) else { break }
            let count = Int(UnsafeRawPointer(base + offset).load(UInt32.self, at: 4))
            guard count >= RecordGroup.headerSizeBytes, offset + count <= Int(footer.offsetsOffset)
            else { break }
            let seed = footer.groupSeed.part(UInt64(index))
            (base + offset).store(seed.checksum(base + offset + 4, count: count - 4), at: 0)
            offset += (count + 7) / 8 * 8
        }
        func fixLines(_ start: Int, _ count: Int, _ seed: ChecksumSeed) {
            for line in 0..<min(count, 100) where start + (line + 1) * 64 <= file.count {
                let at = base + start + line * 64
                at.store(seed.part(UInt64(line)).checksum(at + 4, count: 60), at: 0)
            }
        }
        fixLines(
            Int(footer.offsetsOffset), OffsetLine.lineCount(groupCount: Int(footer.groupCount)),
            footer.offsetSeed)
        fixLines(Int(footer.indexOffset), Int(footer.indexLineCount), footer.indexSeed)
    }
}

/// What else it says stays as the fuzzer has made it.
private func fixPreface(
    _ preface: UnsafeMutableRawPointer, _ footer: SnapshotFooter,
    _ dictionary: UnsafeRawBufferPointer
) {
    preface.store(footer.salt, at: 12)
    preface.store(footer.dictionarySeed.checksum(dictionary), at: 44)
    preface.store(ChecksumSeed(0).checksum(preface, count: 76), at: 76)
}

private func ignoringDamage(_ body: () throws -> Void) throws {
    do { try body() } catch let error as RoostError where error.code == .corrupt {}
}

private func touch(_ bytes: UnsafeRawBufferPointer) {
    var sum: UInt8 = 0
    for byte in bytes { sum &+= byte }
    withExtendedLifetime(sum) {}
}

/// A manifest of the fuzzer's bytes after the right begin and before the right checksum.
func fuzzManifest(_ input: FuzzBytes) throws {
    var input = input
    let fixes = input.next() & 3 != 3
    var bytes = input.rest
    if fixes {
        let empty = ManifestRecord(
            workspace: .init(first: 1, second: 2), hashSeed: hashSeed
        ).encoded()
        let begin = Array(empty.bytes.prefix(12))
        bytes = begin + bytes
        let checksum = bytes.withUnsafeBytes { ChecksumSeed(0).checksum($0) }
        withUnsafeBytes(of: checksum.littleEndian) { bytes += $0 }
    }
    let directory = try FuzzDirectory.make([FileName.manifest.text: bytes])
    let entries = try directory.entries()
    guard let record = try ManifestFile.read(in: directory, entries: entries) else { return }
    let encoded = record.encoded()
    guard case .valid(record) = ManifestRecord.read(encoded.bytes) else {
        fatalError("a manifest that was read does not read again")
    }
}
