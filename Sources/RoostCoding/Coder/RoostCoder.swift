import RoostIO
import Synchronization

/// Writes and reads `Codable` values in a compact binary form.
///
/// Property names are written once in a message, not once in each value; integers, short
/// strings and most floating-point numbers take as few bytes as they need. Equal values give
/// equal bytes, sets and dictionaries included. Properties are found by name: they may be
/// added, removed and put in another order between writing and reading. The form is described
/// in docs/FORMAT.md.
public struct RoostCoder: Sendable {
    /// What the values' own `encode(to:)` and `init(from:)` find in `userInfo`.
    public var userInfo: [CodingUserInfoKey: any Sendable]

    public init(userInfo: [CodingUserInfoKey: any Sendable] = [:]) { self.userInfo = userInfo }

    /// What earlier messages leave for later ones to begin with, for as many as are written at
    /// the same time.
    private static let encodingCaches = Mutex<[EncodingCache]>([])
    private static let decodingKinds = Mutex<[CoderTypeKinds]>([])
    private static let keptCacheCount = 16

    /// The bytes of `value`.
    ///
    /// - Throws: `RoostError` with `.encodingFailed` when the value's own `encode(to:)` fails
    ///   (the cause tells why), or it is nested deeper than 256 levels.
    /// - Complexity: O(size), except for sets, and dictionaries whose keys are neither strings
    ///   nor integers: their elements or keys are encoded once more for each level of nesting.
    public func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] {
        // Nobody else may hold the cache, or the first change to it would copy it.
        let session = EncodingSession(
            cache: Self.encodingCaches.withLock { $0.popLast() } ?? EncodingCache(),
            userInfo: userInfo)
        defer {
            let used = session.takeCache()
            if used.shapes.isWorthKeeping {
                Self.encodingCaches.withLock {
                    if $0.count < Self.keptCacheCount { $0.append(used) }
                }
            }
        }
        do {
            return try encode(value, session)
        } catch let error as RoostError {
            throw error
        } catch {
            throw RoostError(.encodingFailed, "\(Value.self) could not be encoded", cause: error)
        }
    }

    private func encode<Value: Encodable>(
        _ value: Value, _ session: EncodingSession
    ) throws -> [UInt8] {
        try withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { buffer in
            let sink = EncodingSink(
                writer: BinaryWriter(lending: buffer), session: session, pathPrefix: [], depth: 0)
            // The lent memory ends with this call: what kept the sink can no longer write to it.
            defer { sink.state.pointee.frames.removeAll() }
            try ValueEncoder(sink: sink, level: 0).encode(value)
            sink.closeFrames(to: 0)
            return try sink.message()
        }
    }

    /// Reads a value from all of `bytes`.
    ///
    /// - Throws: `RoostError` with `.decodingFailed` when the bytes are not such a value. The
    ///   cause is the `DecodingError`, where there is one, and tells the property.
    /// - Complexity: O(size) when properties are read in the order in which they were written.
    public func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: UnsafeRawBufferPointer
    ) throws -> Value {
        do {
            let message = try DecodingMessage(
                bytes, kinds: Self.decodingKinds.withLock { $0.popLast() } ?? CoderTypeKinds(),
                userInfo: userInfo)
            defer {
                let used = message.close()
                Self.decodingKinds.withLock {
                    if $0.count < Self.keptCacheCount { $0.append(used) }
                }
            }
            return try message.decodeRoot(type)
        } catch let error as RoostError {
            throw error
        } catch {
            let message = "\(Value.self) could not be decoded: \(summary(of: error))"
            throw RoostError(.decodingFailed, message, cause: error)
        }
    }

    /// As ``decode(_:from:)``, for an array.
    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try bytes.withUnsafeBytes { try decode(type, from: $0) }
    }
}

extension EncodingSink {
    /// The message: version, tables, value. The tables are known only when the value has been
    /// written, and so are written behind it first.
    fileprivate func message() throws -> [UInt8] {
        let valueCount = state.pointee.writer.count
        state.pointee.writer.writeFixed(CoderLimits.version)
        cache.pointee.shapes.write(into: &state.pointee.writer)
        if let failure = state.pointee.failure { throw failure }
        guard !state.pointee.writer.isTooDeep else { throw fail("values are nested too deep") }
        let base = state.pointee.writer.base
        let count = state.pointee.writer.count
        return [UInt8](unsafeUninitializedCapacity: count) { bytes, initializedCount in
            let target = UnsafeMutableRawBufferPointer(bytes)
            let tables = UnsafeRawBufferPointer(start: base + valueCount, count: count - valueCount)
            target.copyMemory(from: tables)
            UnsafeMutableRawBufferPointer(rebasing: target[tables.count...])
                .copyMemory(from: UnsafeRawBufferPointer(start: base, count: valueCount))
            initializedCount = count
        }
    }
}
