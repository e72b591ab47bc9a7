#if Replica
    import Roost

    /// Where copies are kept: named objects that are written whole.
    ///
    /// Names are ASCII letters, digits, `-`, `.` and `/`. All calls may be made at the same time, suspend
    /// and do not block. What a call has written is seen by every later one. Where a call throws,
    /// nobody knows whether it took effect, or will: callers reckon with all three.
    ///
    /// What may go better later throws `.io`, or an error that is no `RoostError`: it is tried again. Copying tries
    /// every other error again too, but for `.corrupt`, `.unsupportedVersion` and `.wrongKey`, which end it; following
    /// ends with any `RoostError` but `.io` and `.outOfSpace`. Where its task is cancelled, a call throws `CancellationError`;
    /// where it is not, that error is tried again too.
    public protocol ObjectStorage: Sendable {
        /// The whole object; `nil` where there is none.
        ///
        /// - Throws: `.io` where it cannot be had, or has more than `maximumSizeBytes` bytes.
        func get(_ name: String, maximumSizeBytes: Int) async throws -> [UInt8]?

        /// As `get`, of an object of any size, piece by piece; `false` where there is none. Pieces
        /// are handed on in order, and may have been handed on where the call throws.
        func download(
            _ name: String, to receive: (_ piece: [UInt8]) async throws -> Void
        ) async throws -> Bool

        /// Writes an object, in the place of one that there is.
        func put(_ name: String, _ content: ObjectContent) async throws

        /// Writes an object where there is none of its name; `false`, with nothing changed, where there
        /// is. Of several such calls for one name at most one ever writes.
        func putIfAbsent(_ name: String, _ bytes: [UInt8]) async throws -> Bool

        /// The objects whose names begin with `prefix` and come after `name`, in the order of their
        /// names' bytes: the first of them, one at least where there is one.
        func list(prefix: String, after name: String?) async throws -> [StoredObject]

        /// Removes an object, if there is one.
        func delete(_ name: String) async throws
    }

    /// An object as a list has it.
    public struct StoredObject: Sendable, Equatable {
        /// Where it is.
        public var name: String
        /// How long it is.
        public var sizeBytes: UInt64

        var isEmpty: Bool { sizeBytes == 0 }

        /// Each argument is the property of its name.
        public init(name: String, sizeBytes: UInt64) {
            self.name = name
            self.sizeBytes = sizeBytes
        }
    }

    /// What an object is to hold: bytes that are read as they are sent, and again where a part has to be
    /// sent again.
    public struct ObjectContent: Sendable {
        /// How long it is.
        public let sizeBytes: UInt64
        private let bytes: @Sendable (Range<UInt64>) async throws -> [UInt8]

        /// - Parameters:
        ///   - sizeBytes: how long it is.
        ///   - bytes: a part of it; always the same one for the same range.
        public init(
            sizeBytes: UInt64, _ bytes: @escaping @Sendable (Range<UInt64>) async throws -> [UInt8]
        ) {
            self.sizeBytes = sizeBytes
            self.bytes = bytes
        }

        /// What is in memory.
        public init(_ bytes: [UInt8]) {
            self.init(sizeBytes: UInt64(bytes.count)) { range in
                Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
            }
        }

        /// A part of it.
        ///
        /// - Throws: what the closure throws that reads the content.
        public func read(_ range: Range<UInt64>) async throws -> [UInt8] { try await bytes(range) }

        /// All of it.
        ///
        /// - Throws: as ``read(_:)``.
        public func readAll() async throws -> [UInt8] { try await bytes(0..<sizeBytes) }
    }

    extension ObjectStorage {
        /// All objects whose names begin with `prefix`, from those after `name` on.
        ///
        /// - Throws: `.io` where the storage lists again what it has listed: that would have no end.
        func listAll(prefix: String, after name: String? = nil) async throws -> [StoredObject] {
            var all: [StoredObject] = []
            var last = name
            while true {
                let page = try await list(prefix: prefix, after: last)
                guard let end = page.last else { return all }
                guard last.map({ isBefore($0, end.name) }) ?? true else {
                    throw RoostError(
                        .io, "the storage does not list from a name on (start-after)",
                        file: end.name)
                }
                all += page
                last = end.name
            }
        }
    }

    extension ObjectStorage {
        /// What `make` reads in an object; `nil` where there is none. The object is asked for again, some time later, where it
        /// is damaged: it may be the answer alone that was, on its way.
        func read<Result: Sendable>(
            _ name: String, maximumSizeBytes: Int, as make: @Sendable ([UInt8]) throws -> Result
        ) async throws -> Result? {
            try await rereading {
                try await get(name, maximumSizeBytes: maximumSizeBytes).map(make)
            }
        }
    }

    /// Runs what reads objects, and again some time later where that finds one damaged.
    ///
    /// - Parameter codes: What it then throws.
    nonisolated(nonsending) func rereading<Result>(
        where codes: [RoostError.Code] = RoostError.codesOfContent,
        _ body: nonisolated(nonsending) () async throws -> Result
    ) async throws -> Result {
        for wait in [Duration.milliseconds(100), .milliseconds(400)] {
            do { return try await body() } catch let error as RoostError
                where codes.contains(error.code)
            {
                try await Task.sleep(for: wait)
            }
        }
        return try await body()
    }
#endif
