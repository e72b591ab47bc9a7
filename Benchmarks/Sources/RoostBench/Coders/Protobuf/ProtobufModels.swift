#if Coders
    import Foundation

    extension ProtoNote {
        init(_ value: Note) {
            self.init()
            id = withUnsafeBytes(of: value.id.uuid) { Data($0) }
            title = value.title
            createdAt = value.createdAt.timeIntervalSinceReferenceDate
            rating = value.rating
            isPinned = value.isPinned
            tags = value.tags
        }
    }

    extension ProtoProfile {
        init(_ value: Profile) {
            self.init()
            identifier = Int64(value.identifier)
            userName = value.userName
            displayName = value.displayName
            email = value.email
            age = Int64(value.age)
            heightMeters = value.heightMeters
            weightKilograms = value.weightKilograms
            isActive = value.isActive
            isVerified = value.isVerified
            isAdministrator = value.isAdministrator
            loginCount = Int64(value.loginCount)
            failedLoginCount = Int64(value.failedLoginCount)
            followerCount = Int64(value.followerCount)
            followingCount = Int64(value.followingCount)
            score = value.score
            balance = value.balance
            latitude = value.latitude
            longitude = value.longitude
            createdAt = value.createdAt.timeIntervalSinceReferenceDate
            updatedAt = value.updatedAt.timeIntervalSinceReferenceDate
            language = value.language
            timeZone = value.timeZone
            theme = value.theme
            fontSize = Int64(value.fontSize)
            notificationsEnabled = value.notificationsEnabled
            newsletterEnabled = value.newsletterEnabled
            quotaBytes = value.quotaBytes
            usedBytes = value.usedBytes
            if let name = value.referrer { referrer = name }
            flags = value.flags
        }
    }
#endif
