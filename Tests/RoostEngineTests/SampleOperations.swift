import RoostFormat
import RoostIO

@testable import RoostEngine

/// Operations in memory, one frame each, as a log would hold them.
final class SampleOperations {
    let region: MappedRegion
    private var offset = 0

    init(sizeBytes: Int = 1 << 20) { region = .anonymous(sizeBytes: sizeBytes) }

    func add(
        _ key: [UInt8], sequence: UInt64, value: [UInt8]?, kind: Operation.Kind? = nil
    ) -> Operation {
        let start = region.base + offset
        let body = start + Frame.headerSizeBytes
        Operation.writeHeader(
            to: body, kind: kind ?? (value == nil ? .remove : .put), keyCount: key.count,
            valueCount: value?.count ?? 0, frameOffset: Frame.headerSizeBytes)
        let bytes = key + (value ?? [])
        bytes.withUnsafeBytes {
            (body + Operation.headerSizeBytes).copyMemory(
                from: $0.baseAddress!, byteCount: $0.count)
        }
        let payloadCount = Operation.headerSizeBytes + bytes.count
        Frame.finish(
            at: start, payloadCount: payloadCount, sequence: sequence, durableSequence: 0,
            flags: [],
            seed: ChecksumSeed(1))
        offset += Frame.sizeBytes(payloadCount: payloadCount)
        precondition(offset <= region.sizeBytes)
        return Operation(address: body)
    }
}

let sampleSeed = HashSeed(first: 5, second: 6)

func sampleHash(_ key: [UInt8]) -> UInt64 { key.withUnsafeBytes { sampleSeed.hash($0) } }
