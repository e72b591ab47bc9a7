import RoostIO

/// A message being read: its table, and what all its values share.
///
/// - The bytes are valid while the message is open, and are not touched afterwards.
/// - `places` has one place for each depth at which values have been read, the root's first;
///   only the message refers to those that no decoder is left of. With `replaced` they are all
///   that something may be left of, unless there were too many.
/// - `tables` keeps the tables that were met last, by the type that was read.
/// - Sendable, since one task at a time uses a message: the one that made it or took it from
///   `DecodingPool`, and nobody else holds those that the pool has.
final class DecodingMessage: @unchecked Sendable {
    struct State {
        var kinds = CoderTypeKinds()
        var places: ContiguousArray<Place> = []
        /// Those that were in `places` before another took their depth, as something of them was left.
        var replaced: ContiguousArray<Place> = []
        /// Whether there were too many to keep.
        var hasLostPlaces = false
        var table: CoderTable?
        var tables = ContiguousArray<CoderTable?>(repeating: nil, count: tableCount)
        var userInfo: [CodingUserInfoKey: any Sendable] = [:]
        var isOpen = false
        /// What could not be thrown where it was found; thrown at the end.
        var failure: (any Error)?
        /// Where the value begins, after the table.
        var content: UnsafeRawPointer
        /// Bytes that were put into another form, kept for as long as the message.
        var converted: [UnsafeMutableRawBufferPointer] = []
    }

    private static let tableCount = 32
    private static let replacedCount = 64

    /// Through a pointer, so that no access is checked twice.
    let state: UnsafeMutablePointer<State>

    init() {
        state = .allocate(capacity: 1)
        // Anything but a place in a message; replaced before it is looked at.
        state.initialize(to: State(content: UnsafeRawPointer(state)))
    }

    deinit {
        releaseConverted()
        state.deinitialize(count: 1)
        state.deallocate()
    }

    @inline(__always)
    var isOpen: Bool { state.pointee.isOpen }

    func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: UnsafeRawBufferPointer,
        userInfo: [CodingUserInfoKey: any Sendable]
    ) throws -> Value {
        let root = try open(bytes, ObjectIdentifier(type).slot(of: Self.tableCount))
        if !userInfo.isEmpty { state.pointee.userInfo = userInfo }
        let place = place(root, .none, depth: 0)
        let kind = state.pointee.kinds.kind(of: type)
        let value = try decodeKnown(type, kind, root) {
            try Value(from: ValueDecoder(place: place))
        }
        if let failure = state.pointee.failure { throw failure }
        if root.tag == CoderTag.rootObject {
            try place.openFields()
            try place.checkEnd()
        }
        return value
    }

    /// The place of the message's value, an object, whose properties can be read.
    func openFields(of type: Any.Type, in bytes: UnsafeRawBufferPointer) throws -> Place {
        let root = try open(bytes, ObjectIdentifier(type).slot(of: Self.tableCount))
        let place = place(root, .none, depth: 0)
        try place.openFields()
        return place
    }

    /// Reads the beginning of a message, and gives its value.
    private func open(_ bytes: UnsafeRawBufferPointer, _ slot: Int) throws -> CoderValue {
        guard let start = bytes.baseAddress, !bytes.isEmpty else {
            throw RoostError(.decodingFailed, "there are no bytes to decode")
        }
        var reader = BinaryReader(
            from: start, to: start + bytes.count, depth: 0, owner: RoostCoder.self)
        let form = try reader.readFixed(UInt8.self)
        guard form == CoderTag.rootObject || form == CoderLimits.version else {
            throw reader.invalidValue("\(form) is not a known version of the coder's form")
        }
        let rest = UnsafeRawBufferPointer(rebasing: bytes[1...])
        if let table = state.pointee.tables[slot], table.begins(rest) {
            state.pointee.table = table
            reader.cursor += table.sizeBytes
        } else {
            let table = try CoderTable(&reader)
            state.pointee.table = table
            if table.sizeBytes <= CoderLimits.keptSizeBytes / 16 {
                state.pointee.tables[slot] = table
            }
        }
        state.pointee.content = reader.cursor
        state.pointee.isOpen = true
        if form == CoderTag.rootObject { return CoderValue(start: start, limit: reader.end) }
        let root = CoderValue(start: reader.cursor, limit: reader.end)
        guard try root.end() == reader.end else {
            throw reader.invalidValue("bytes follow the value")
        }
        return root
    }

    /// Ends the use of the bytes. Says whether nothing of the message is left anywhere.
    func close() -> Bool {
        state.pointee.isOpen = false
        state.pointee.table = nil
        state.pointee.failure = nil
        state.pointee.userInfo = [:]
        releaseConverted()
        let isFree = releasePlaces()
        // Places refer to the message: it would never be released.
        if !isFree { state.pointee.places = [] }
        return isFree
    }

    /// Lets those places go that are not for the next message. Says whether nobody else has one: it would
    /// point into bytes that are gone, and take itself for open with the next message.
    private func releasePlaces() -> Bool {
        if !state.pointee.replaced.isEmpty {
            // A place that refers to one that was replaced is no user of it: only errors ask for that.
            for place in state.pointee.places { place.parent = nil }
            for place in state.pointee.replaced { place.parent = nil }
        }
        var isFree = !state.pointee.hasLostPlaces
        for index in state.pointee.places.indices
        where !isKnownUniquelyReferenced(&state.pointee.places[index]) {
            isFree = false
        }
        for index in state.pointee.replaced.indices
        where !isKnownUniquelyReferenced(&state.pointee.replaced[index]) {
            isFree = false
        }
        state.pointee.replaced = []
        return isFree
    }

    /// Remembers a place that something is left of, as long as they are few.
    private func noteReplaced(_ place: Place) {
        if state.pointee.hasLostPlaces { return }
        if state.pointee.replaced.count >= Self.replacedCount {
            var kept: ContiguousArray<Place> = []
            for index in state.pointee.replaced.indices
            where !isKnownUniquelyReferenced(&state.pointee.replaced[index]) {
                kept.append(state.pointee.replaced[index])
            }
            state.pointee.hasLostPlaces = kept.count > Self.replacedCount / 2
            state.pointee.replaced = state.pointee.hasLostPlaces ? [] : kept
            if state.pointee.hasLostPlaces { return }
        }
        state.pointee.replaced.append(place)
    }

    private func releaseConverted() {
        for bytes in state.pointee.converted { bytes.deallocate() }
        state.pointee.converted = []
    }
}

/// Places.
extension DecodingMessage {
    /// A decoder for a value, whose end has been found, inside the one at `parent`.
    func nest(_ value: CoderValue, _ step: Place.Step, in parent: Place) throws -> ValueDecoder {
        guard parent.depth < CoderLimits.depth else {
            throw RoostError(
                .decodingFailed, "values are nested deeper than \(CoderLimits.depth) levels")
        }
        let place = place(value, step, depth: parent.depth + 1)
        if state.pointee.places[parent.depth] !== parent {
            place.parent = parent
        } else if place.parent != nil {
            place.parent = nil
        }
        return ValueDecoder(place: place)
    }

    private func place(_ value: CoderValue, _ step: Place.Step, depth: Int) -> Place {
        if depth < state.pointee.places.count {
            if isKnownUniquelyReferenced(&state.pointee.places[depth]) {
                let place = state.pointee.places[depth]
                place.cursor.pointee.value = value
                place.cursor.pointee.step = step
                place.cursor.pointee.content = .unknown
                return place
            }
            let place = Place(value, message: self, depth: depth)
            place.cursor.pointee.step = step
            noteReplaced(state.pointee.places[depth])
            state.pointee.places[depth] = place
            return place
        }
        let place = Place(value, message: self, depth: depth)
        place.cursor.pointee.step = step
        state.pointee.places.append(place)
        return place
    }
}
