import RoostFormat
import RoostIO

// What a run does with the bytes of an object that may match.

extension Query {
    /// Calls `body` with an object where it matches, and gives what that says; `true` where it does not, and
    /// where it does not decode and such objects are passed by.
    ///
    /// - Parameter isMatch: Whether it is known to match.
    func offer(
        _ stored: UnsafeRawBufferPointer, _ key: [UInt8], isMatch: Bool, in name: DictionaryName,
        _ body: (_ key: [UInt8], _ item: Item) throws -> Bool
    ) throws -> Bool {
        if undecodable != nil { return try offerDecodable(stored, key, isMatch: isMatch, body) }
        // Without an `Item?`, which the runtime would look up for each object.
        let item = try repository.codec.decode(
            stored: stored, key: String(decoding: key, as: UTF8.self), name: name,
            migrations: repository.dictionary.workspace.migrations)
        return try offer(item, key, isMatch: isMatch, body)
    }

    private func offerDecodable(
        _ stored: UnsafeRawBufferPointer, _ key: [UInt8], isMatch: Bool,
        _ body: (_ key: [UInt8], _ item: Item) throws -> Bool
    ) throws -> Bool {
        guard let item = try key.withUnsafeBytes({ try decode(stored, $0) }) else { return true }
        return try offer(item, key, isMatch: isMatch, body)
    }

    private func offer(
        _ item: Item, _ key: [UInt8], isMatch: Bool,
        _ body: (_ key: [UInt8], _ item: Item) throws -> Bool
    ) throws -> Bool {
        if !isMatch {
            let matches = try withUnsafePointer(to: item) { try condition.matches($0) }
            guard matches else { return true }
        }
        return try body(key, item)
    }

    /// `nil` where it does not decode, and such objects are passed by.
    func decode(_ stored: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer) throws -> Item? {
        do {
            return try repository.decode(stored, key)
        } catch let error as RoostError
            where error.code == .decodingFailed || error.code == .typeMismatch
        {
            guard let undecodable else { throw error }
            undecodable(String(decoding: key, as: UTF8.self), error)
            return nil
        }
    }
}

extension Repository {
    func decode(_ stored: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer) throws -> Item {
        try dictionary.decode(stored: stored, key: String(decoding: key, as: UTF8.self), codec)
    }
}
