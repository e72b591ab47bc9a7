/// An address for a message: without what may be a user and a password in it, all between `://` and the last `@`.
package func redactedAddress(_ address: String) -> String {
    guard let at = address.lastIndex(of: "@") else { return address }
    let rest = address[at...]
    guard let scheme = address.firstRange(of: "://"), scheme.upperBound <= at else {
        return "…\(rest)"
    }
    return "\(address[..<scheme.upperBound])…\(rest)"
}
