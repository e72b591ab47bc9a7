#if Replica
    import Roost

    /// The bases that the journal names, from one on back: the newest first, as many as there still are.
    ///
    /// - Damage of one hides no other: what is newer is there already, and what is older is found as far as
    ///   the entries between can be read.
    struct BaseChain: Sendable {
        /// A base as its journal entry names it.
        struct Link: Sendable {
            let entry: JournalEntry
            let name: String
            /// Or that it is damaged, or lost.
            let record: Result<BaseRecord, RoostError>
        }

        /// One that can be read.
        typealias Base = (entry: JournalEntry, name: String, record: BaseRecord)

        private(set) var links: [Link] = []
        /// An entry that cannot be read, behind which others may be.
        private(set) var damagedEnd: RoostError?
        /// Those that are no more, behind the last that is: lost, where an older one is still there.
        private var gone: [Link] = []
        /// Where the entry of the next older one is; zero where all were read.
        private(set) var next: UInt64

        /// None is read yet; the first is the one whose entry is at `index`.
        init(from index: UInt64) { next = index }

        /// All of them.
        ///
        /// - Throws: as `read(from:until:)`.
        init(from index: UInt64, in storage: any ObjectStorage) async throws {
            self.init(from: index)
            try await read(from: storage)
        }

        /// Those that can be read, the newest first.
        var bases: [Base] {
            links.compactMap { link in
                guard case .success(let record) = link.record else { return nil }
                return (link.entry, link.name, record)
            }
        }

        /// What was met that is damaged or lost, the newest first.
        var damages: [RoostError] {
            links.compactMap { link in
                guard case .failure(let damage) = link.record else { return nil }
                return damage
            } + (damagedEnd.map { [$0] } ?? [])
        }

        /// Reads on, until there is no older one, or one that can be read is enough.
        ///
        /// - Throws: `.io` where the storage cannot be had; `.unsupportedVersion`; `.wrongKey`.
        mutating func read(
            from storage: any ObjectStorage, until isEnough: (BaseRecord) -> Bool = { _ in false }
        ) async throws {
            while next > 0 {
                let payload: BasePayload
                let entry: JournalEntry
                do {
                    guard let found = try await JournalReader.entry(named: next, in: storage),
                        found.kind == .base
                    else { return next = 0 }
                    (entry, payload) = (found, try BasePayload(found))
                } catch let error as RoostError where error.code == .corrupt {
                    damagedEnd = error
                    return next = 0
                }
                let isNewest = links.isEmpty && gone.isEmpty
                next = payload.earlier < entry.index ? payload.earlier : 0
                guard let record = try await Self.record(payload, in: storage) else {
                    let lost = Link(
                        entry: entry, name: payload.name,
                        record: .failure(
                            RoostError(.io, "the copy has lost a base", file: payload.name)))
                    // Retention removes what is older too, and never the newest one.
                    if isNewest { links.append(lost) } else { gone.append(lost) }
                    continue
                }
                links += gone
                gone = []
                links.append(Link(entry: entry, name: payload.name, record: record))
                if case .success(let record) = record, isEnough(record) { return }
            }
        }

        /// `nil` where there is no such object.
        private static func record(
            _ payload: BasePayload, in storage: any ObjectStorage
        ) async throws -> Result<BaseRecord, RoostError>? {
            do {
                return try await storage.read(
                    payload.name, maximumSizeBytes: BaseRecord.maximumSizeBytes
                ) { bytes -> Result<BaseRecord, RoostError> in
                    guard bytes.suffix(FieldReader.digestSizeBytes).elementsEqual(payload.digest)
                    else {
                        throw RoostError(
                            .corrupt, "the base is not the one that the journal names",
                            file: payload.name)
                    }
                    return .success(try BaseRecord(bytes, name: payload.name))
                }
            } catch let error as RoostError where error.code == .corrupt {
                return .failure(error)
            }
        }
    }
#endif
