import Roost
import RoostIO

/// What an object was in the store that its device exchanged with before this one; versions of one store say nothing
/// in another.
///
/// It waits here with the object, and is sent with it to `NAME/origins`. Two devices that exchanged with the same former
/// store know by it which of them has the later state, as they would have known there.
struct SyncedOrigin: Codable, Equatable, Sendable {
    /// The name of the former store.
    var store: String
    /// The version that the object had there, or that its changes are based on; zero where there was none.
    var version: UInt64
    /// Whether it was changed since.
    var isChanged: Bool

    /// What is to be there of two states of one object.
    enum Choice {
        case mine, theirs, conflict
    }

    /// Who only has an earlier state has nothing to say; where each has what the other does not, it is a conflict.
    func choice(over theirs: SyncedOrigin, isChangedThere: Bool) -> Choice {
        if !isChanged && version <= theirs.version { return .theirs }
        if !isChangedThere && theirs.version <= version { return .mine }
        return .conflict
    }
}

/// An object as it is there.
struct SyncedThere<Item: Sendable>: Sendable {
    /// Why it does not decode is told to whoever asks for it: a change that is based on it takes its place without a look,
    /// as of an app whose earlier version stored it in another form.
    let item: Result<Item?, any Error>
    /// As it is stored; `nil` where there is none.
    let stored: [UInt8]?
    /// Zero where there is none.
    let version: UInt64
    /// What the device that sent it first told of it; read only for what has an origin here too.
    var origin: SyncedOrigin?
    /// What set the origin; zero where there is none.
    var originVersion: UInt64 = 0
    /// What it was read at.
    let revision: UInt64

    /// Where `mine` is of the same former store.
    func origin(as mine: SyncedOrigin) -> SyncedOrigin? {
        origin?.store == mine.store ? origin : nil
    }

    /// What the others are to be told where this device has the same object: the later version of both, and whether either
    /// was changed. An object can return to an earlier form, so equal objects may be of different versions. Versions of
    /// different stores are not compared, and a change is one all the same.
    ///
    /// - Returns: `nil` where the origin there says all of that, or where there is none: whoever has another object is in
    ///   conflict with what has no origin.
    func originToTell(of mine: SyncedOrigin) -> SyncedOrigin? {
        guard let origin else { return nil }
        var joined = origin
        if origin.store == mine.store { joined.version = max(origin.version, mine.version) }
        joined.isChanged = isChangedSinceOrigin || mine.isChanged
        let isTold =
            joined.version == origin.version && joined.isChanged == isChangedSinceOrigin
        return isTold ? nil : joined
    }

    /// Whether it is another than the origin says. The two are sent in one commit.
    var isChangedSinceOrigin: Bool { origin?.isChanged ?? true || originVersion != version }
}
