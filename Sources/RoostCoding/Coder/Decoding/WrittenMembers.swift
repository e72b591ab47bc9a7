/// The members of an object as the coder wrote them, those too that were written as absent: an object that is to
/// become the same bytes again needs them. For tools.
package struct WrittenMembers: Sendable {
    package struct Member: Sendable {
        package var name: String
        package var isAbsent: Bool
    }

    package var members: [Member]

    /// `nil` where the value that `decoder` stands at is no object of this coder: maps have no absent entries.
    package init?(from decoder: any Decoder) throws {
        guard let place = (decoder as? ValueDecoder)?.place,
            let members = try place.writtenMembers()
        else { return nil }
        self.members = members
    }
}

extension Place {
    /// In the order in which they were written.
    fileprivate func writtenMembers() throws -> [WrittenMembers.Member]? {
        guard value.isObject else { return nil }
        try openFields()
        guard cursor.pointee.content == .object else { return nil }
        var members: [WrittenMembers.Member] = []
        guard let names = cursor.pointee.names else { return members }
        let limit = cursor.pointee.limit
        var position = cursor.pointee.start
        while position < limit, members.count < cursor.pointee.count {
            let value = CoderValue(start: position, limit: limit)
            position = try value.end()
            members.append(
                .init(name: names[members.count], isAbsent: value.tag == CoderTag.absent))
        }
        return members
    }
}

extension CoderValue {
    fileprivate var isObject: Bool {
        tag & ~0x07 == CoderTag.shortObject || tag == CoderTag.object || tag == CoderTag.rootObject
    }
}
