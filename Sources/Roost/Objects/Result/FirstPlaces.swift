import RoostEngine
import RoostFormat

/// Keys of objects in the order of a query, which stand in few allocations.
struct SortedKeys: Sendable {
    fileprivate typealias Place = FirstPlaces.Place
    fileprivate var bytes: [UInt8] = []
    fileprivate var places: ArraySlice<Place> = []
    /// Where others come behind these: the place of the last.
    fileprivate(set) var lastPlace: [UInt8]?

    fileprivate init() {}

    init(_ keys: ArraySlice<[UInt8]>) {
        var places: [Place] = []
        places.reserveCapacity(keys.count)
        for key in keys {
            places.append(.init(start: bytes.count, count: key.count, keyCount: key.count))
            bytes += key
        }
        self.places = places[...]
    }

    var count: Int { places.count }

    subscript(index: Int) -> [UInt8] {
        let place = places[places.startIndex + index]
        let end = place.start + Int(place.count)
        // A place ends in the key.
        return Array(bytes[(end - Int(place.keyCount))..<end])
    }
}

/// The first of many places in an order, as many as are asked for and as memory is allowed for.
///
/// - Places are added to one buffer. Once it is full, the first half of them stays, and what comes behind these is
///   not taken any more: so adding costs a sort of the buffer each time that half of it has been filled.
/// - Of so many places at least one more than the offset stays, so that each of several rounds gives something.
struct FirstPlaces {
    fileprivate struct Place: Sendable {
        var start: Int
        let count: UInt32
        let keyCount: UInt32

        init(start: Int, count: Int, keyCount: Int) {
            self.start = start
            self.count = UInt32(count)
            self.keyCount = UInt32(keyCount)
        }
    }

    private let count: Int
    private let sizeLimitBytes: Int
    private let offset: Int
    private var bytes: [UInt8] = []
    private var places: [Place] = []
    /// Behind it none is taken.
    private var last: [UInt8]?
    /// Whether some were left out for their size, and not as there were enough.
    private var isCutOff = false

    /// - Parameters:
    ///   - count: How many are asked for, those of the offset included.
    ///   - sizeLimitBytes: What they may take, if it is enough for twice the offset.
    ///   - offset: How many of the first are passed by.
    init(count: Int, sizeLimitBytes: Int, offset: Int) {
        self.count = count
        self.sizeLimitBytes = sizeLimitBytes
        self.offset = offset
    }

    /// What the places take now.
    var sizeBytes: Int { bytes.count + places.count * MemoryLayout<Place>.stride }

    /// - Parameters:
    ///   - place: It ends in the object's key. No two are equal.
    ///   - keyCount: The bytes of the key.
    mutating func add(_ place: [UInt8], keyCount: Int) {
        if let last, !Roost.bytes(place, precede: last) { return }
        places.append(.init(start: bytes.count, count: place.count, keyCount: keyCount))
        bytes += place
        let isFull = sizeBytes > sizeLimitBytes && places.count / 2 > offset
        if isFull || places.count / 2 >= max(count, Self.smallestCount) { leaveOut(isFull) }
    }

    /// Below so many none is left out because there are enough: a sort of a few costs more for each.
    private static var smallestCount: Int { 512 }

    private mutating func leaveOut(_ isFull: Bool) {
        sort()
        var kept = min(count, places.count)
        if isFull, kept > places.count / 2 {
            kept = places.count / 2
            isCutOff = true
        }
        places.removeSubrange(kept...)
        var keptBytes: [UInt8] = []
        keptBytes.reserveCapacity(bytes.count)
        for index in places.indices {
            let start = places[index].start
            places[index].start = keptBytes.count
            keptBytes += bytes[start..<(start + Int(places[index].count))]
        }
        bytes = keptBytes
        last = lastPlace
    }

    private var lastPlace: [UInt8]? {
        places.last.map { Array(bytes[$0.start..<($0.start + Int($0.count))]) }
    }

    private mutating func sort() {
        bytes.withUnsafeBytes { bytes in
            func content(_ place: Place) -> UnsafeRawBufferPointer {
                .init(rebasing: bytes[place.start..<(place.start + Int(place.count))])
            }
            places.sort { compareBytes(content($0), content($1)) < 0 }
        }
    }

    /// The keys of those behind the offset, in order; nothing is added afterwards.
    consuming func sorted() -> SortedKeys {
        sort()
        if places.count > count { places.removeSubrange(count...) }
        var keys = SortedKeys()
        if isCutOff, places.count < count { keys.lastPlace = lastPlace }
        keys.places = places.dropFirst(offset)
        keys.bytes = bytes
        return keys
    }
}
