extension History {
    /// Whether a reader may see `value` under a key now: the newest of the calls that returned,
    /// or that of a call under way.
    mutating func allows(_ value: [UInt8]?, dictionary: String, key: String) -> Bool {
        let now = now
        if let value, Self.isExpired(value, at: now) { return false }
        if Self.live(visibleContent[dictionary]?[key], at: now) == value { return true }
        let makers = pending.filter { call in
            call.state != .failed
                && call.batch.changes(dictionary, key).contains { Self.live($0, at: now) == value }
        }
        if makers.count == 1 { noteSeen([makers[0].identifier]) }
        return !makers.isEmpty
    }

    /// Whether a batch may never have been visible: one that waited for the disk with a change of
    /// one key, of which a later change did not wait.
    func wasOvertaken(_ sequence: Int) -> Bool {
        guard let batch = batches[sequence - 1], batch.isAwaited, batch.changes.count == 1,
            let (dictionary, key) = batch.changes[0].place
        else { return false }
        return batches.dropFirst(sequence).contains {
            $0?.changes.contains { $0.touches(dictionary, key) } ?? true
        }
    }

    /// Whether `value` was what a key held just before batch `sequence`; `true` where that is not
    /// known.
    func allows(_ value: [UInt8]?, dictionary: String, key: String, before sequence: Int) -> Bool {
        for batch in batches.prefix(sequence - 1).reversed() {
            guard let batch else { return true }
            if let change = batch.last(dictionary, key) {
                // What has expired by now may have been read before or after that.
                return change == value || value == nil && Self.live(change, at: now) == nil
            }
        }
        return value == nil
    }

    /// What is wrong with a scan's outcome while calls may be under way; `nil` where nothing is.
    mutating func objection(to found: Content) -> String? {
        let known = Self.live(visibleContent, at: now)
        for dictionary in Set(found.keys).union(known.keys) {
            let keys = Set((found[dictionary] ?? [:]).keys).union((known[dictionary] ?? [:]).keys)
            for key in keys.sorted() {
                let value = found[dictionary]?[key]
                if !allows(value, dictionary: dictionary, key: key) {
                    return Self.difference(found: found, expected: known)
                }
            }
        }
        for call in pending where call.state == .underWay {
            if isTorn(call, in: found) {
                return "a part of a batch is visible: \(call.batch.changes)"
            }
        }
        return nil
    }

    /// Whether some changes of a call under way are to be seen and some are not, where no other
    /// call explains it.
    private func isTorn(_ call: Pending, in found: Content) -> Bool {
        var seen = 0
        var unseen = 0
        for (index, change) in call.batch.changes.enumerated() {
            guard case .put(let dictionary, let key, let value) = change else { continue }
            let isTouchedElsewhere =
                call.batch.changes.dropFirst(index + 1).contains { $0.touches(dictionary, key) }
                || pending.contains {
                    $0.identifier != call.identifier
                        && $0.batch.changes.contains { $0.touches(dictionary, key) }
                }
                || batches.dropFirst(call.lowest).contains {
                    $0?.changes.contains { $0.touches(dictionary, key) } ?? true
                }
            if isTouchedElsewhere || Self.isExpired(value, at: now) { continue }
            if found[dictionary]?[key] == value { seen += 1 } else { unseen += 1 }
        }
        return seen > 0 && unseen > 0
    }
}

extension History.Change {
    /// The dictionary and the key, of a change of one key.
    fileprivate var place: (dictionary: String, key: String)? {
        switch self {
        case .put(let dictionary, let key, _), .remove(let dictionary, let key): (dictionary, key)
        case .clear: nil
        }
    }

    func touches(_ dictionary: String, _ key: String) -> Bool {
        switch self {
        case .put(dictionary, key, _), .remove(dictionary, key), .clear(dictionary): true
        default: false
        }
    }
}

extension History.Batch {
    /// What the batch leaves under a key; `nil` where it does not touch it.
    fileprivate func last(_ dictionary: String, _ key: String) -> [UInt8]?? {
        var content: History.Content = [:]
        guard !changes(dictionary, key).isEmpty else { return nil }
        History.apply(self, to: &content)
        return .some(content[dictionary]?[key])
    }

    /// What the batch may leave under a key.
    fileprivate func changes(_ dictionary: String, _ key: String) -> [[UInt8]?] {
        changes.filter { $0.touches(dictionary, key) }.map { change in
            if case .put(_, _, let value) = change { value } else { nil }
        }
    }
}

extension History {
    /// Where two contents differ, in few words; `nil` where they do not.
    package static func difference(found: Content, expected: Content) -> String? {
        if found == expected { return nil }
        var lines: [String] = []
        for dictionary in Set(found.keys).union(expected.keys).sorted() {
            let found = found[dictionary] ?? [:]
            let expected = expected[dictionary] ?? [:]
            for key in Set(found.keys).union(expected.keys).sorted()
            where found[key] != expected[key] {
                lines.append(
                    "\(dictionary)/\(key): found \(brief(found[key])), expected \(brief(expected[key]))"
                )
            }
        }
        return lines.prefix(5).joined(separator: "; ")
            + (lines.count > 5 ? "; … \(lines.count) in all" : "")
    }

    /// What a key should hold, and what calls under way may make of it.
    func explanation(of value: [UInt8]?, _ dictionary: String, _ key: String) -> String {
        let expected = Self.live(visibleContent[dictionary]?[key], at: now)
        let others = pending.filter { $0.batch.changes.contains { $0.touches(dictionary, key) } }
        return
            "found \(Self.brief(value)), expected \(Self.brief(expected)), at \(now); under way: "
            + others.map { "\($0.state) \($0.batch.changes(dictionary, key).map(Self.brief))" }
            .joined(separator: ", ")
    }

    private static func brief(_ value: [UInt8]?) -> String {
        value.map { "\($0.count) bytes \($0.prefix(18))" } ?? "nothing"
    }
}
