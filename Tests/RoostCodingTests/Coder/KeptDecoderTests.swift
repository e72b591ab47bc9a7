import RoostCoding
import Testing

/// What a value keeps of its decoder beyond its `init(from:)`.
private final class Kept: @unchecked Sendable {
    // One task decodes, and looks afterwards.
    var decoders: [any Decoder] = []
    var arrays: [any UnkeyedDecodingContainer] = []
    var objects: [KeyedDecodingContainer<PartsKeys>] = []
    /// The paths of what an earlier value has kept, as seen while this one is decoded.
    var pathsDuringNext: [[String]] = []

    init() {}

    /// The containers of a value that was read.
    init(_ value: some Encodable) {
        let coder = RoostCoder(userInfo: [Kept.key: self])
        do { _ = try coder.decode(KeepsContainers.self, from: try coder.encode(value)) } catch {
            // The process does not end by that.
            print(error)
        }
    }

    static let key = CodingUserInfoKey(rawValue: "kept")!

    var paths: [[String]] { decoders.map { $0.codingPath.map(\.stringValue) } }
}

private struct Parts: Encodable {
    struct Part: Encodable { var number: Int }

    var first = Part(number: 1)
    var second = Part(number: 2)
}

private enum PartsKeys: CodingKey { case first, second, number }

/// Asks for the decoder of the second part while it has that of the first, and then goes on in the first.
private struct KeepsDecoders: Decodable {
    init(from decoder: any Decoder) throws {
        let kept = decoder.userInfo[Kept.key] as? Kept
        let container = try decoder.container(keyedBy: PartsKeys.self)
        let first = try container.superDecoder(forKey: .first)
        _ = try container.superDecoder(forKey: .second).container(keyedBy: PartsKeys.self)
        let inner = try first.container(keyedBy: PartsKeys.self).superDecoder(forKey: .number)
        #expect(inner.codingPath.map(\.stringValue) == ["first", "number"])
        kept?.decoders += [first, inner]
    }
}

/// Keeps the first decoder alone, whose place another has taken since.
private struct KeepsTheFirst: Decodable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: PartsKeys.self)
        let first = try container.superDecoder(forKey: .first)
        _ = try container.superDecoder(forKey: .second)
        (decoder.userInfo[Kept.key] as? Kept)?.decoders.append(first)
    }
}

private struct KeepsContainers: Decodable {
    init(from decoder: any Decoder) throws {
        let kept = decoder.userInfo[Kept.key] as? Kept
        if let array = try? decoder.unkeyedContainer() {
            kept?.arrays.append(array)
        } else {
            kept?.objects.append(try decoder.container(keyedBy: PartsKeys.self))
        }
    }
}

private struct LooksAtKept: Decodable {
    init(from decoder: any Decoder) throws {
        guard let kept = decoder.userInfo[Kept.key] as? Kept else { return }
        kept.pathsDuringNext = kept.paths
    }
}

@Suite struct KeptDecoderTests {
    @Test func aDecoderThatIsKeptHasNoPathAfterItsCall() throws {
        let kept = Kept()
        let coder = RoostCoder(userInfo: [Kept.key: kept])
        let bytes = try coder.encode(Parts())
        _ = try coder.decode(KeepsDecoders.self, from: bytes)
        #expect(kept.paths == [[], []])
        for decoder in kept.decoders { #expect(decoder.userInfo.isEmpty) }
    }

    /// It took itself for open again, with bytes that were gone, once the next value was read.
    @Test func aDecoderThatIsKeptIsNotOpenedWithTheNextValue() throws {
        let kept = Kept()
        let coder = RoostCoder(userInfo: [Kept.key: kept])
        let bytes = try coder.encode(Parts())
        for _ in 0..<20 {
            _ = try coder.decode(KeepsTheFirst.self, from: bytes)
            _ = try coder.decode(LooksAtKept.self, from: bytes)
            #expect(kept.pathsDuringNext.contains { !$0.isEmpty } == false)
        }
        #expect(kept.decoders.count == 20)
    }

    /// More than a message remembers at a time.
    @Test(arguments: [10, 40, 1_000]) func manyDecodersMayBeKept(count: Int) throws {
        let kept = Kept()
        let coder = RoostCoder(userInfo: [Kept.key: kept])
        let bytes = try coder.encode(Array(repeating: Parts(), count: count))
        for _ in 0..<3 {
            _ = try coder.decode([KeepsTheFirst].self, from: bytes)
            _ = try coder.decode(LooksAtKept.self, from: bytes)
            #expect(kept.pathsDuringNext.contains { !$0.isEmpty } == false)
        }
        #expect(kept.decoders.count == 3 * count)
    }

    /// They would read bytes and names that are gone.
    @Test func askingWhatAKeptContainerHasEndsTheProcess() async {
        await #expect(processExitsWith: .failure) {
            let kept = Kept([[1, 2]])
            print(kept.arrays.map(\.count))
        }
        await #expect(processExitsWith: .failure) {
            let kept = Kept(Parts())
            print(kept.objects.map(\.allKeys.count))
        }
    }
}
