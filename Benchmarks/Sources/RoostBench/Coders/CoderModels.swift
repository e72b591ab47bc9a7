import Foundation
import RoostCoding

/// Six fields of different kinds, as values in apps have them.
struct Note: Codable, Equatable {
    var id: UUID
    var title: String
    var createdAt: Date
    var rating: Double
    var isPinned: Bool
    var tags: [String]
}

extension Note {
    /// The note of `index`; the same at every call.
    init(_ index: Int) {
        var random = SeededRandom(seed: UInt64(index))
        let words = (random.next(), random.next())
        id = UUID(uuid: withUnsafeBytes(of: words) { $0.loadUnaligned(as: uuid_t.self) })
        title = "\(Self.titles[index % Self.titles.count]) \(index)"
        // To the microsecond, as clocks have it.
        let microseconds = Double(random.next() % 1_000_000_000_000)
        createdAt = Date(timeIntervalSinceReferenceDate: 750_000_000 + microseconds / 1_000_000)
        rating = Double(random.next() % 50) / 10
        isPinned = index % 3 == 0
        tags = (0...(index % 3)).map { Self.tagNames[(index / 3 + $0) % Self.tagNames.count] }
    }

    private static let titles = [
        "Call the plumber", "Ideas for the summer", "Meeting with Ada about the launch",
        "Shopping list", "Notes on the second chapter", "Birthday presents",
    ]
    private static let tagNames = [
        "home", "work", "reading", "garden", "travel", "someday", "health",
    ]
}

/// Thirty fields side by side, as settings and rows of tables have them.
struct Profile: Codable, Equatable {
    var identifier = 48_213
    var userName = "ada.lovelace"
    var displayName = "Ada Lovelace"
    var email = "ada@example.org"
    var age = 36
    var heightMeters = 1.68
    var weightKilograms = 61.5
    var isActive = true
    var isVerified = true
    var isAdministrator = false
    var loginCount = 1_289
    var failedLoginCount = 3
    var followerCount = 20_412
    var followingCount = 187
    var score = 0.7310585786300049
    var balance = 1_024.75
    var latitude = 51.507351
    var longitude = -0.127758
    var createdAt = Date(timeIntervalSinceReferenceDate: 700_000_000)
    var updatedAt = Date(timeIntervalSinceReferenceDate: 753_912_345.678901)
    var language = "en"
    var timeZone = "Europe/London"
    var theme = "dark"
    var fontSize = 14
    var notificationsEnabled = true
    var newsletterEnabled = false
    var quotaBytes: Int64 = 5_368_709_120
    var usedBytes: Int64 = 1_342_177_280
    var referrer: String?
    var flags: UInt32 = 0x5a5a
}

/// A small, reproducible source of randomness (SplitMix64).
struct SeededRandom {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
}
