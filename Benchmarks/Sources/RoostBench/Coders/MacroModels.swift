#if Coders
    import Foundation
    import RoostMacros

    /// The models of CoderModels.swift in the binary form, by the macro.
    @BinaryCodable struct MacroNote: Equatable {
        @Field(1) var id: UUID
        @Field(2) var title: String
        @Field(3) var createdAt: Date
        @Field(4) var rating: Double
        @Field(5) var isPinned: Bool
        @Field(6) var tags: [String]

        init(_ value: Note) {
            id = value.id
            title = value.title
            createdAt = value.createdAt
            rating = value.rating
            isPinned = value.isPinned
            tags = value.tags
        }
    }

    @BinaryCodable struct MacroProfile: Equatable {
        @Field(1) var identifier: Int
        @Field(2) var userName: String
        @Field(3) var displayName: String
        @Field(4) var email: String
        @Field(5) var age: Int
        @Field(6) var heightMeters: Double
        @Field(7) var weightKilograms: Double
        @Field(8) var isActive: Bool
        @Field(9) var isVerified: Bool
        @Field(10) var isAdministrator: Bool
        @Field(11) var loginCount: Int
        @Field(12) var failedLoginCount: Int
        @Field(13) var followerCount: Int
        @Field(14) var followingCount: Int
        @Field(15) var score: Double
        @Field(16) var balance: Double
        @Field(17) var latitude: Double
        @Field(18) var longitude: Double
        @Field(19) var createdAt: Date
        @Field(20) var updatedAt: Date
        @Field(21) var language: String
        @Field(22) var timeZone: String
        @Field(23) var theme: String
        @Field(24) var fontSize: Int
        @Field(25) var notificationsEnabled: Bool
        @Field(26) var newsletterEnabled: Bool
        @Field(27) var quotaBytes: Int64
        @Field(28) var usedBytes: Int64
        @Field(29) var referrer: String?
        @Field(30) var flags: UInt32

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
    }
#endif
