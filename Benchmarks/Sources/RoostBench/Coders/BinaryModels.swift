import Foundation
import RoostCoding

/// The models of CoderModels.swift in the binary form, by hand.
struct HandNote: BinaryCodable, Equatable {
    var id: UUID
    var title: String
    var createdAt: Date
    var rating: Double
    var isPinned: Bool
    var tags: [String]

    init(_ value: Note) {
        id = value.id
        title = value.title
        createdAt = value.createdAt
        rating = value.rating
        isPinned = value.isPinned
        tags = value.tags
    }

    func encode(into writer: inout BinaryWriter) {
        writer.field(1, id)
        writer.field(2, title)
        writer.field(3, createdAt)
        writer.field(4, rating)
        writer.field(5, isPinned)
        writer.field(6, tags)
    }

    init(from reader: inout BinaryReader) throws {
        id = try reader.field(1)
        title = try reader.field(2)
        createdAt = try reader.field(3)
        rating = try reader.field(4)
        isPinned = try reader.field(5)
        tags = try reader.field(6)
    }
}

struct HandProfile: BinaryCodable, Equatable {
    var identifier: Int
    var userName: String
    var displayName: String
    var email: String
    var age: Int
    var heightMeters: Double
    var weightKilograms: Double
    var isActive: Bool
    var isVerified: Bool
    var isAdministrator: Bool
    var loginCount: Int
    var failedLoginCount: Int
    var followerCount: Int
    var followingCount: Int
    var score: Double
    var balance: Double
    var latitude: Double
    var longitude: Double
    var createdAt: Date
    var updatedAt: Date
    var language: String
    var timeZone: String
    var theme: String
    var fontSize: Int
    var notificationsEnabled: Bool
    var newsletterEnabled: Bool
    var quotaBytes: Int64
    var usedBytes: Int64
    var referrer: String?
    var flags: UInt32

    init(_ value: Profile) {
        identifier = value.identifier
        userName = value.userName
        displayName = value.displayName
        email = value.email
        age = value.age
        heightMeters = value.heightMeters
        weightKilograms = value.weightKilograms
        isActive = value.isActive
        isVerified = value.isVerified
        isAdministrator = value.isAdministrator
        loginCount = value.loginCount
        failedLoginCount = value.failedLoginCount
        followerCount = value.followerCount
        followingCount = value.followingCount
        score = value.score
        balance = value.balance
        latitude = value.latitude
        longitude = value.longitude
        createdAt = value.createdAt
        updatedAt = value.updatedAt
        language = value.language
        timeZone = value.timeZone
        theme = value.theme
        fontSize = value.fontSize
        notificationsEnabled = value.notificationsEnabled
        newsletterEnabled = value.newsletterEnabled
        quotaBytes = value.quotaBytes
        usedBytes = value.usedBytes
        referrer = value.referrer
        flags = value.flags
    }

    func encode(into writer: inout BinaryWriter) {
        writer.field(1, identifier)
        writer.field(2, userName)
        writer.field(3, displayName)
        writer.field(4, email)
        writer.field(5, age)
        writer.field(6, heightMeters)
        writer.field(7, weightKilograms)
        writer.field(8, isActive)
        writer.field(9, isVerified)
        writer.field(10, isAdministrator)
        writer.field(11, loginCount)
        writer.field(12, failedLoginCount)
        writer.field(13, followerCount)
        writer.field(14, followingCount)
        writer.field(15, score)
        writer.field(16, balance)
        writer.field(17, latitude)
        writer.field(18, longitude)
        writer.field(19, createdAt)
        writer.field(20, updatedAt)
        writer.field(21, language)
        writer.field(22, timeZone)
        writer.field(23, theme)
        writer.field(24, fontSize)
        writer.field(25, notificationsEnabled)
        writer.field(26, newsletterEnabled)
        writer.field(27, quotaBytes)
        writer.field(28, usedBytes)
        writer.field(29, referrer)
        writer.field(30, flags)
    }

    init(from reader: inout BinaryReader) throws {
        identifier = try reader.field(1)
        userName = try reader.field(2)
        displayName = try reader.field(3)
        email = try reader.field(4)
        age = try reader.field(5)
        heightMeters = try reader.field(6)
        weightKilograms = try reader.field(7)
        isActive = try reader.field(8)
        isVerified = try reader.field(9)
        isAdministrator = try reader.field(10)
        loginCount = try reader.field(11)
        failedLoginCount = try reader.field(12)
        followerCount = try reader.field(13)
        followingCount = try reader.field(14)
        score = try reader.field(15)
        balance = try reader.field(16)
        latitude = try reader.field(17)
        longitude = try reader.field(18)
        createdAt = try reader.field(19)
        updatedAt = try reader.field(20)
        language = try reader.field(21)
        timeZone = try reader.field(22)
        theme = try reader.field(23)
        fontSize = try reader.field(24)
        notificationsEnabled = try reader.field(25)
        newsletterEnabled = try reader.field(26)
        quotaBytes = try reader.field(27)
        usedBytes = try reader.field(28)
        referrer = try reader.field(29)
        flags = try reader.field(30)
    }
}
