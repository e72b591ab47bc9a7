import RoostIO

#if Postgres
    import CPostgreSQL
#endif

/// Looks over an address before libpq is given it to connect: its messages would name the part that it does not
/// understand, and that may be a part of a password.
enum PostgresAddress {
    /// - Throws: `.io`, with nothing of the address.
    static func check(_ address: String) throws {
        guard isSound(address), isParsed(address) else {
            throw RoostError(
                .io,
                "the address of PostgreSQL is not one that libpq knows: it is to be like postgres://user:password@host:5432/database, with what is special in the password as %XX"
            )
        }
    }

    /// Whether a URL's parts are what they seem: a password with a `/` or an `@` that is not written as `%XX` ends
    /// early, and the rest of it becomes a host, a port or a database.
    static func isSound(_ address: String) -> Bool {
        guard let scheme = address.firstRange(of: "://") else { return true }
        guard ["postgres", "postgresql"].contains(address[..<scheme.lowerBound]) else {
            return address.contains("=")
        }
        let rest = address[scheme.upperBound...]
        let userEnd = rest.firstIndex { $0 == "@" || $0 == "/" }
        let behindUser: Substring
        if let userEnd, rest[userEnd] == "@" {
            behindUser = rest[rest.index(after: userEnd)...]
        } else {
            behindUser = rest
        }
        let parts = behindUser.prefix { $0 != "?" }
        guard !parts.contains("@") else { return false }
        return parts.prefix { $0 != "/" }.split(separator: ",").allSatisfy(hasSoundPort)
    }

    private static func hasSoundPort(_ host: Substring) -> Bool {
        let behindBrackets = host.lastIndex(of: "]").map { host[$0...] } ?? host
        guard let colon = behindBrackets.lastIndex(of: ":") else { return true }
        let port = behindBrackets[behindBrackets.index(after: colon)...]
        return port.isEmpty || (UInt16(port) ?? 0) > 0
    }

    #if Postgres
        /// The servers of an address that names several, each as the options that choose it; one that chooses nothing
        /// where it names one, or none.
        ///
        /// libpq itself goes from one to the next only where the first refuses, and waits for ever for one that is silent.
        static func servers(of address: String) -> [[String: String]] {
            guard let options = PQconninfoParse(address, nil) else { return [[:]] }
            defer { PQconninfoFree(options) }
            var lists: [String: [String]] = [:]
            var option = options
            while let keyword = option.pointee.keyword {
                let name = String(cString: keyword)
                if ["host", "hostaddr", "port"].contains(name), let value = option.pointee.val {
                    lists[name] = String(cString: value).split(
                        separator: ",", omittingEmptySubsequences: false
                    ).map(String.init)
                }
                option += 1
            }
            let count = max(lists["host"]?.count ?? 0, lists["hostaddr"]?.count ?? 0)
            guard count > 1 else { return [[:]] }
            return (0..<count).map { place in
                // One port is for all; another number of them than of hosts is libpq's to refuse.
                lists.compactMapValues { $0.count == 1 ? $0[0] : $0.dropFirst(place).first }
            }
        }
    #endif

    private static func isParsed(_ address: String) -> Bool {
        #if Postgres
            guard let options = PQconninfoParse(address, nil) else { return false }
            PQconninfoFree(options)
        #endif
        return true
    }
}
