import Foundation
import Roost

/// What the followed writer writes: numbers that only go up, each in one batch to several keys.
enum FollowedPlan {
    static let pairKeys = (0..<8).map { "pair \($0)" }
    static let objectCount = 4
    /// Which batches empty the dictionary of the pairs before they set them.
    static func clears(_ number: UInt64) -> Bool { number % 97 == 0 }
    /// What all processes of the machine count alike.
    static var nanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// A number and when it was written, with bytes that follow from it.
    static func value(_ number: UInt64, at time: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: time.littleEndian) { bytes.append(contentsOf: $0) }
        bytes += [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: Int(number % 180))
        return bytes
    }

    /// `nil` for bytes that nobody wrote.
    static func read(_ bytes: [UInt8]) -> (number: UInt64, time: UInt64)? {
        guard bytes.count >= 16 else { return nil }
        let (number, time) = bytes.withUnsafeBytes { bytes in
            (
                UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)),
                UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
        return bytes == value(number, at: time) ? (number, time) : nil
    }

    /// The newest numbers that `workspace` shows.
    static func newest(in workspace: Workspace) throws -> FollowedEnd {
        let bytes = try workspace.dictionary("pairs").value(forKey: pairKeys[0], as: [UInt8].self)
        let objects = try workspace.repository(of: FollowedObject.self)
            .where { $0.number > 0 }.fetch()
        return FollowedEnd(
            number: bytes.flatMap(read)?.number ?? 0,
            objectNumber: objects.map(\.number).max() ?? 0)
    }
}

/// An object of which all have the number of the batch that wrote them.
struct FollowedObject: Codable, Sendable, Identifiable, Indexed {
    var id: Int
    var number: UInt64

    static var indexes: [Index<FollowedObject>] { [Index("number", \.number)] }
}

/// What the last of the writers has left, 0 for nothing.
struct FollowedEnd: Codable, Equatable, Sendable {
    var number: UInt64
    var objectNumber: UInt64
}
