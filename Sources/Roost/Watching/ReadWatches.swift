import RoostEngine
import RoostFormat
import Synchronization

/// The dictionaries that observed reads look at, each watched once for all of them.
///
/// - `state` is taken before the engine's mutexes and before an observation's: under it no call is made that may tell
///   what others owe, and no observation or watch goes.
final class ReadWatches: Sendable {
    private struct Watched {
        let watch: LiveWatch
        var observers: [ObjectIdentifier: Observer] = [:]
    }

    /// It keeps the workspace, which keeps these.
    private struct Observer {
        weak var observation: ReadObservation?
    }

    private let state = Mutex<[[UInt8]: Watched]>([:])

    /// Tells `observation` of what changes in the dictionary from here on.
    func watch(_ dictionary: [UInt8], for observation: ReadObservation, _ engine: Engine) {
        let isKnown = state.withLock { $0[dictionary] != nil }
        let watch =
            isKnown
            ? nil
            : engine.watchLive(.range(prefix: dictionary, dictionary: dictionary)) {
                [weak self] in self?.take(dictionary)
            }
        let isWatched = state.withLock { state in
            if state[dictionary] == nil {
                guard let watch else { return false }
                state[dictionary] = Watched(watch: watch)
            }
            state[dictionary]?.observers[ObjectIdentifier(observation)] = Observer(
                observation: observation)
            observation.noteWatched(dictionary)
            return true
        }
        withExtendedLifetime(watch) {}
        // The last of the others has left it meanwhile.
        if !isWatched { self.watch(dictionary, for: observation, engine) }
    }

    /// Tells `observation` no more of the dictionaries that its last read did not look at.
    func unwatchUnneeded(by observation: ReadObservation) {
        let unneeded = state.withLock { state in
            Self.unwatch(
                observation.takeUnneeded(), for: ObjectIdentifier(observation), &state)
        }
        withExtendedLifetime(unneeded) {}
    }

    /// At the end of an observation.
    func unwatch(_ dictionaries: Set<[UInt8]>, for observation: ObjectIdentifier) {
        let unneeded = state.withLock { Self.unwatch(dictionaries, for: observation, &$0) }
        withExtendedLifetime(unneeded) {}
    }

    /// Returns the watches that nobody needs any more, which must not go under the mutex.
    private static func unwatch(
        _ dictionaries: Set<[UInt8]>, for observation: ObjectIdentifier,
        _ state: inout [[UInt8]: Watched]
    ) -> [LiveWatch] {
        var unneeded: [LiveWatch] = []
        for dictionary in dictionaries {
            state[dictionary]?.observers[observation] = nil
            guard let watched = state[dictionary], watched.observers.isEmpty else { continue }
            unneeded.append(watched.watch)
            state[dictionary] = nil
        }
        return unneeded
    }

    /// A moment of which `observation` is told nothing any more, and of all that comes later in the dictionaries that
    /// it watches. `begun`, which returns these, is called at it.
    func moment(
        for observation: ReadObservation, _ engine: Engine, begun: () -> Set<[UInt8]>
    ) throws -> ReadMoment {
        let (moment, told) = try state.withLock { state in
            let watched = begun().compactMap { dictionary in
                state[dictionary].map { (dictionary: dictionary, watched: $0) }
            }
            let moment = try engine.moment(of: watched.map(\.watched.watch))
            var told = Told()
            for ((dictionary, watched), events) in zip(watched, moment.events)
            where !events.isEmpty {
                for observer in watched.observers.values {
                    guard let other = observer.observation else { continue }
                    told.reached.append(other)
                    if other === observation {
                        other.noteInView(events, of: dictionary)
                    } else {
                        told.note(events, of: dictionary, other)
                    }
                }
            }
            return (moment, told)
        }
        told.call()
        return moment
    }

    /// Called by the thread that made a batch visible.
    private func take(_ dictionary: [UInt8]) {
        let told = state.withLock { state in
            var told = Told()
            guard let watched = state[dictionary] else { return told }
            let ready = watched.watch.takeReady()
            for observer in watched.observers.values {
                guard let observation = observer.observation else { continue }
                told.reached.append(observation)
                let isDue =
                    !ready.events.isEmpty && observation.note(ready.events, of: dictionary)
                if ready.isEnded { observation.noteEnded() }
                told.add(observation, isDue: isDue || ready.isEnded)
            }
            return told
        }
        told.call()
    }

    /// Who was told. All are held until the mutex is given back, as the last reference ends an observation.
    private struct Told: Sendable {
        var reached: [ReadObservation] = []
        var due: [ReadObservation] = []
        /// Those that the main actor reads for itself.
        var own: [ReadObservation] = []

        mutating func note(
            _ events: [WatchEvent], of dictionary: [UInt8], _ observation: ReadObservation
        ) {
            if observation.note(events, of: dictionary) { due.append(observation) }
        }

        /// Of a write: where it is the main actor's, another thread may have taken its events before.
        mutating func add(_ observation: ReadObservation, isDue: Bool) {
            if observation.onOwnWrite != nil, MainQueue.isCurrent, observation.isShownOutdated {
                own.append(observation)
            } else if isDue {
                due.append(observation)
            }
        }

        func call() {
            for observation in own { observation.onOwnWrite?() }
            for observation in due { observation.onDue() }
        }
    }
}
