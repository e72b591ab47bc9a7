import RoostSnapshot

/// Hostile bytes, or a compressed value with stretches replaced, against a dictionary. What is
/// decompressed must be what the format says, which is read here once more, slowly.
///
/// The fuzzer sees nothing of how far it came within the C library; the slow reading it sees.
func fuzzDecompressor(_ input: FuzzBytes) throws {
    var input = input
    let kind = input.next()
    let count = input.nextHalf() + 1
    let dictionary = input.next(Int(input.next()))
    if kind & 1 == 0 {
        check(input.rest, 0, dictionary, count: count)
        return
    }
    let value = value(from: &input)
    var compressor = ValueCompressor(dictionary: .init(bytes: dictionary, recordCount: 1))
    let compressed = value.withUnsafeBytes {
        compressor.compress($0).map { (Array($0.bytes), $0.leftOutCount) }
    }
    guard var (stored, leftOutCount) = compressed else { return }
    guard check(stored, leftOutCount, dictionary, count: value.count) == value else {
        fatalError("what was compressed does not decompress")
    }
    while !input.isAtEnd {
        stored[input.nextHalf() % stored.count] = input.next()
    }
    if kind & 4 != 0 { leftOutCount = 0 }
    check(
        stored, leftOutCount, dictionary, count: kind & 2 == 0 ? value.count : count,
        spareCount: kind & 8 == 0 ? 0 : SnapshotReader.spareSizeBytes)
}

/// Text that repeats itself, as the fuzzer says.
private func value(from input: inout FuzzBytes) -> [UInt8] {
    var value = input.next(Int(input.next()) + 20)
    for _ in 0..<(input.next() % 8) where !value.isEmpty {
        let start = input.nextHalf() % value.count
        value += value[start...].prefix(Int(input.next()) * 4)
    }
    return value
}

@discardableResult
private func check(
    _ stored: [UInt8], _ leftOutCount: Int, _ dictionary: [UInt8], count: Int, spareCount: Int = 0
) -> [UInt8]? {
    let guardCount = 64
    let roomCount = count + spareCount
    var target = [UInt8](repeating: 0xa5, count: roomCount + guardCount)
    let isRead = target.withUnsafeMutableBytes { target in
        stored.withUnsafeBytes { stored in
            dictionary.withUnsafeBytes {
                decompress(
                    stored, leftOutCount: leftOutCount, dictionary: $0, count: count,
                    into: .init(rebasing: target[..<roomCount]))
            }
        }
    }
    guard target[roomCount...].allSatisfy({ $0 == 0xa5 }) else {
        fatalError("written past the end")
    }
    guard isRead else { return nil }
    let bytes = Array(target[..<count])
    // Of a block whose end is left out only the value has to be right, not what is after it.
    if leftOutCount > 0 { return bytes }
    let slow = decompressedSlowly(stored, dictionary, count: count)
    switch slow {
    case .bytes(let expected) where expected != bytes:
        fatalError("other bytes than the format says")
    case .malformed: fatalError("decompressed though malformed")
    default: return bytes
    }
}

private enum SlowResult {
    case bytes([UInt8])
    case malformed
    /// An offset of nothing, which the format forbids and the library lets pass: any bytes.
    case unspecified
}

/// The block format of LZ4 (lz4_Block_format.md), without the rules on where a block may end.
private func decompressedSlowly(
    _ stored: [UInt8], _ dictionary: [UInt8], count: Int
) -> SlowResult {
    var output = dictionary
    var index = 0
    var isSpecified = true
    func length(_ first: UInt8) -> Int? {
        guard first == 15 else { return Int(first) }
        var length = 15
        while index < stored.count {
            defer { index += 1 }
            length += Int(stored[index])
            if stored[index] != 255 { return length }
        }
        return nil
    }
    while index < stored.count {
        let token = stored[index]
        index += 1
        guard let literalCount = length(token >> 4), literalCount <= stored.count - index,
            output.count + literalCount <= dictionary.count + count
        else { return .malformed }
        output += stored[index..<(index + literalCount)]
        index += literalCount
        if index == stored.count { break }
        guard index + 2 <= stored.count else { return .malformed }
        let offset = Int(stored[index]) | Int(stored[index + 1]) << 8
        index += 2
        guard let extra = length(token & 15), offset <= output.count,
            output.count + extra + 4 <= dictionary.count + count
        else { return .malformed }
        if offset == 0 {
            isSpecified = false
            output += [UInt8](repeating: 0, count: extra + 4)
        } else {
            for _ in 0..<(extra + 4) { output.append(output[output.count - offset]) }
        }
    }
    guard output.count == dictionary.count + count else { return .malformed }
    return isSpecified ? .bytes(Array(output[dictionary.count...])) : .unspecified
}
