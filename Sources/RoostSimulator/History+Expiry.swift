import RoostFormat

/// Values carry their deadlines; what is past its own is to be seen by nobody.
extension History {
    static func isExpired(_ value: [UInt8], at now: UInt64) -> Bool {
        value.withUnsafeBytes { (ValueHeader($0)?.deadline ?? .never).milliseconds <= now }
    }

    static func live(_ value: [UInt8]?, at now: UInt64) -> [UInt8]? {
        value.flatMap { isExpired($0, at: now) ? nil : $0 }
    }

    static func live(_ content: Content, at now: UInt64) -> Content {
        content.compactMapValues { values in
            let left = values.filter { !isExpired($0.value, at: now) }
            return left.isEmpty ? nil : left
        }
    }
}
