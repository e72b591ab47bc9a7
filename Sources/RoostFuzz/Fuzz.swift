import Foundation
import RoostIO

// Built only where the environment has ROOST_FUZZ, with libFuzzer, which brings the main function:
// see `make fuzz` and scripts/fuzz.

/// What the fuzzer's bytes are given to; `ROOST_FUZZ_TARGET` chooses.
enum FuzzTarget: String, CaseIterable {
    case log, snapshot, manifest, coder, binary, decompressor

    static let chosen: FuzzTarget = {
        let name = ProcessInfo.processInfo.environment["ROOST_FUZZ_TARGET"] ?? ""
        guard let target = FuzzTarget(rawValue: name) else {
            fatalError("ROOST_FUZZ_TARGET is one of \(allCases.map(\.rawValue))")
        }
        return target
    }()

    func run(_ bytes: FuzzBytes) throws {
        switch self {
        case .log: try fuzzLog(bytes)
        case .snapshot: try fuzzSnapshot(bytes)
        case .manifest: try fuzzManifest(bytes)
        case .coder: try fuzzCoder(bytes)
        case .binary: try fuzzBinary(bytes)
        case .decompressor: try fuzzDecompressor(bytes)
        }
    }
}

/// Gives libFuzzer's bytes to the target. Hostile bytes give an error that says so; another one,
/// or a trap, is what the fuzzer looks for.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = FuzzBytes(Array(UnsafeBufferPointer(start: start, count: count)))
    do { try FuzzTarget.chosen.run(bytes) } catch let error as RoostError {
        // A file that begins as a sealed one does asks for its key.
        let codes: [RoostError.Code] = [.corrupt, .unsupportedVersion, .decodingFailed, .wrongKey]
        guard codes.contains(error.code) else { fatalError("an error of the wrong kind: \(error)") }
    } catch { fatalError("an error that is not a RoostError: \(error)") }
    return 0
}

/// The fuzzer's bytes, taken from the front; zeros after the end.
struct FuzzBytes {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { offset >= bytes.count }
    var all: [UInt8] { bytes }
    var rest: [UInt8] { Array(bytes.dropFirst(offset)) }

    mutating func next() -> UInt8 {
        defer { offset += 1 }
        return offset < bytes.count ? bytes[offset] : 0
    }

    mutating func nextHalf() -> Int { Int(next()) | Int(next()) << 8 }

    mutating func next(_ count: Int) -> [UInt8] {
        let taken = Array(bytes.dropFirst(offset).prefix(count))
        offset += taken.count
        return taken
    }
}
