import Roost

/// Checks the indexes of one repository against its objects, as far as the bytes tell.
///
/// - Of every index: that each entry is one, and its object is there; of one that has each object once,
///   that no object is without an entry.
/// - Where the stored forms name their fields, also that each object has the entries of what is stored
///   under the names of the index's fields, and no others. A type may store a property under another
///   name: where most objects do not agree with the index, that is taken to be so, and not checked.
/// - Indexes that are not complete are used by nobody, and not checked; nor are those of which this version does not
///   know the forms.
/// - Objects that expire meanwhile go with their entries, one after the other as they are looked at: what is not
///   there, of an object or an entry, is looked for on the other side once more, and what expires counts for nothing.
final class IndexCheck {
    struct Finding {
        let index: StoredIndex
        /// Why it is not checked; `nil` where it is.
        var passedOver: String?
        var entryCount = 0
        /// `nil` where what the objects have stored could not be compared.
        var comparedCount: Int?
        var problems: [String] = []
    }

    private let repository: StoredRepository
    private var progress: ProgressBar
    private var lookedAtCount = 0
    private let totalCount: Double

    private init(_ repository: StoredRepository) throws {
        self.repository = repository
        progress = ProgressBar(verb: "checking the indexes of \"\(repository.dictionary)\":")
        // Of each index every entry is looked at, and every object, which are about as many.
        totalCount = Double(max(1, try repository.objectCount() * repository.indexes.count * 2))
    }

    static func findings(_ workspace: Workspace) throws -> [Finding] {
        // They come by dictionary. A set of their names would take canonically equal ones for one.
        var names: [String] = []
        for index in try workspace.storedIndexes() {
            if let last = names.last, index.isOf(last) { continue }
            names.append(index.dictionary)
        }
        return try names.flatMap { name in
            let check = try IndexCheck(StoredRepository(workspace, name))
            let findings = try check.repository.indexes.map { try check.finding($0) }
            check.progress.finish(count: check.lookedAtCount)
            return findings
        }
    }

    private func noteLook() {
        lookedAtCount += 1
        progress.update(count: lookedAtCount, fraction: Double(lookedAtCount) / totalCount)
    }

    private func finding(_ index: StoredIndex) throws -> Finding {
        var finding = Finding(index: index)
        guard index.state == .built else {
            finding.passedOver = index.state.text
            return finding
        }
        guard let shape = index.shape else {
            finding.passedOver = "its shape is not known to this version: \(index.shapeText)"
            return finding
        }
        let entries = try checkEntries(index, shape, &finding)
        if !shape.isPartial { try checkObjects(index, shape, entries, &finding) }
        return finding
    }

    /// Not that of the string: canonically equal ones have one.
    private static func hash(of key: String) -> Int { Array(key.utf8).hashValue }

    private struct Entries {
        /// The hashes of the keys: so many do not collide by chance.
        var objects: Set<Int> = []
        /// Those of objects that are there and do not expire.
        var lasting = 0
        var unreadable = 0
        var orphaned: (count: Int, example: String) = (0, "")
        /// Of a partial index: entries that are, and are not, of what their objects have stored.
        var agreeing = 0
        var differing: (count: Int, example: String) = (0, "")
    }

    private func checkEntries(
        _ index: StoredIndex, _ shape: StoredIndexShape, _ finding: inout Finding
    ) throws -> Entries {
        var entries = Entries()
        var count = 0
        try repository.forEachEntry(of: index) { entry in
            count += 1
            noteLook()
            guard let entry else {
                entries.unreadable += 1
                return true
            }
            entries.objects.insert(Self.hash(of: entry.objectKey))
            guard let stored = try repository.object(entry.objectKey) else {
                // Where both have expired since, it is the entry of no object rightly.
                if try repository.hasEntry(entry.form, entry.objectKey, in: index) {
                    entries.orphaned = (entries.orphaned.count + 1, entry.objectKey)
                }
                return true
            }
            if !entry.expires { entries.lasting += 1 }
            guard shape.isPartial, shape.isOfStoredFields,
                let agrees = StoredObject(entry.objectKey, stored)?.hasForm(entry.form, in: shape)
            else { return true }
            if agrees {
                entries.agreeing += 1
            } else {
                entries.differing = (entries.differing.count + 1, entry.objectKey)
            }
            return true
        }
        finding.entryCount = count
        if entries.unreadable > 0 {
            finding.problems.append("\(grouped(entries.unreadable)) entries cannot be read")
        }
        if entries.orphaned.count > 0 {
            finding.problems.append(
                "\(grouped(entries.orphaned.count)) entries are of objects that are not there, as \"\(entries.orphaned.example)\""
            )
        }
        if entries.differing.count > 0, entries.agreeing >= entries.differing.count {
            finding.problems.append(
                "\(grouped(entries.differing.count)) entries are not what their objects have stored, as that of \"\(entries.differing.example)\""
            )
        }
        return entries
    }

    private func checkObjects(
        _ index: StoredIndex, _ shape: StoredIndexShape, _ entries: Entries,
        _ finding: inout Finding
    ) throws {
        var (objectCount, comparedCount, expectedCount, agreeing) = (0, 0, 0, 0)
        var lastingCount = 0
        var missing: (count: Int, example: String) = (0, "")
        var differing: (count: Int, example: String) = (0, "")
        try repository.forEachObject { key, stored in
            objectCount += 1
            noteLook()
            if shape.fields[0].isEach == false, !entries.objects.contains(Self.hash(of: key)) {
                missing = (missing.count + 1, key)
            }
            guard shape.isOfStoredFields, let forms = StoredObject(key, stored)?.forms(in: shape)
            else {
                return true
            }
            comparedCount += 1
            expectedCount += forms.count
            if stored.plain?.deadlineMilliseconds == nil { lastingCount += forms.count }
            if try repository.hasEntries(forms, key, in: index) {
                if !forms.isEmpty { agreeing += 1 }
            } else if try repository.hasObject(key) {
                differing = (differing.count + 1, key)
            }
            return true
        }
        if missing.count > 0 {
            finding.problems.append(
                "\(grouped(missing.count)) objects have no entry, as \"\(missing.example)\"")
        }
        if finding.entryCount == 0, expectedCount > 0, missing.count == 0 {
            finding.problems.append("it has no entries")
            return
        }
        // Where most do not agree, the names are others.
        guard comparedCount > 0, agreeing + missing.count >= differing.count else { return }
        finding.comparedCount = comparedCount
        if differing.count > missing.count {
            finding.problems.append(
                "\(grouped(differing.count - missing.count)) objects have no entry of what they have stored, as \"\(differing.example)\""
            )
        }
        let surplus = entries.lasting - lastingCount
        if comparedCount == objectCount, differing.count == 0, surplus > 0 {
            finding.problems.append(
                "\(grouped(surplus)) entries are of what no object has stored")
        }
    }
}
