import ArgumentParser
import Foundation
import RoostFormat

/// When a value that is set is to be gone.
enum Expiration: Equatable {
    case after(seconds: UInt64)
    case at(milliseconds: UInt64)

    private static let units: [Character: UInt64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
    /// A hundred years.
    private static let longestSeconds: UInt64 = 3_155_760_000

    /// - Throws: `ValidationError`.
    init(argument: String) throws {
        if let unit = argument.last.flatMap({ Self.units[$0] }),
            let count = UInt64(argument.dropLast()), count > 0,
            count <= Self.longestSeconds / unit
        {
            self = .after(seconds: count * unit)
        } else if let moment = MomentText.milliseconds(argument) {
            self = .at(milliseconds: moment)
        } else {
            throw ValidationError(
                "\(argument): neither a time as 90s, 15m, 12h or 7d, of a hundred years at most, nor a moment as "
                    + "2026-11-20T10:00:00Z")
        }
    }

    /// Milliseconds since 1970.
    ///
    /// - Throws: `Failure` where the moment is over.
    func deadlineMilliseconds() throws -> UInt64 {
        let now = Date().timeIntervalSince1970 * 1000
        switch self {
        case .after(let seconds): return UInt64(now) + seconds * 1000
        case .at(let moment):
            guard Double(moment) > now else {
                throw Failure(.usage, "--expires is over: the value would be gone at once")
            }
            return moment
        }
    }
}
