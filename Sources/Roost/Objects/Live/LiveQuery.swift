import Foundation
import Observation
import RoostIO

/// A query's result for user interfaces: `items` follows what is saved and deleted, by whomever, and
/// observers are told.
///
/// ```swift
/// @State var list = LiveQuery(posts.where { $0.priority > 100 }.order(by: \.title))
/// ```
///
/// - Nothing is read until it is first asked for `items`, ``error``, or to tell changes by ``onChange``; the result is there then,
///   read on the main actor, as by `fetch`. So it costs nothing where the view's struct is made anew at each drawing, and with
///   it the first value of its `@State`, of which only one is kept.
/// - Each later change is applied by its positions, without reading or comparing the others. A write of
///   the main actor has changed `items` when it returns, but for one that ``onChange`` makes; another's does so in a turn
///   of the main actor, so that `items` are the same until it suspends.
/// - What is asked of each object, and its decoding, must not use the workspace: see ``Query/updates()``.
/// - It ends following when it goes or the workspace is closed, which it keeps open; and where a writer can be followed no
///   more, which ``error`` says.
@MainActor
@Observable
public final class LiveQuery<Item: Identifiable & Sendable> where Item.ID: Sendable {
    /// The result, in the query's order, as of the last change that was applied.
    public var items: [Item] {
        begin()
        return current
    }
    /// Why the result, or an object that may be in it, could not be read, the last time that something
    /// could not. It stays where that is mended meanwhile; setting ``query``, to the same one too, forgets it.
    public var error: RoostError? {
        begin()
        return failure
    }
    /// The query whose result it is. Another may take its place, as when somebody types into a search field: `items`
    /// is its result when the setter returns, which reads it where the one before was.
    public var query: Query<Item> {
        didSet {
            guard hasBegun else { return }
            failure = nil
            follow()
        }
    }
    /// Called when `items` has become another by a change: with the positions, as list views take them
    /// to animate; with `nil` where the result was read anew. It may set ``query``. The first result is read before it is called.
    @ObservationIgnored public var onChange: ((ResultChange<Item>?) -> Void)? {
        willSet { if newValue != nil { begin() } }
    }

    private var current: [Item] = []
    private var failure: RoostError?
    @ObservationIgnored private var hasBegun = false
    @ObservationIgnored private var outlet = LiveOutlet<Item>(wantsPositions: true)
    /// The outlet that changes are taken from.
    @ObservationIgnored private var taken: LiveOutlet<Item>?
    @ObservationIgnored private var registration: LiveRegistration<Item>?

    /// Makes a query live. Where it cannot be, ``error`` says why, and there are no items.
    public init(_ query: Query<Item>) { self.query = query }

    /// Makes all objects of a repository live.
    public convenience init(_ repository: Repository<Item>) { self.init(repository.all) }

    /// Before anybody can observe what is read here, so that nobody is told of it.
    private func begin() {
        guard !hasBegun else { return }
        hasBegun = true
        follow()
    }

    private func follow() {
        outlet = LiveOutlet(wantsPositions: true)
        registration = nil
        do {
            let objects = query.repository.dictionary.workspace.live.objects(of: query.repository)
            let outlet = self.outlet
            registration = try objects.open(query, outlet)
            takeChanges()
            outlet.setOnReady(objects.awaitedReaders) { [weak self] in
                guard MainQueue.isCurrent else {
                    Task { @MainActor [weak self] in self?.takeChanges() }
                    return
                }
                MainActor.assumeIsolated { self?.takeChanges() }
            }
            // What came before there was anybody to call.
            takeChanges()
        } catch {
            if !current.isEmpty {
                current = []
                onChange?(nil)
            }
            failure =
                error as? RoostError
                ?? RoostError(.io, "the result could not be read", cause: error)
        }
    }

    private func takeChanges() {
        // Who is told a change may write: that is told behind it.
        guard let registration, outlet !== taken else { return }
        let outlet = self.outlet
        let outer = taken
        taken = outlet
        defer { taken = outer }
        // Who is told a change may set another query, whose changes were taken then.
        while self.registration === registration {
            switch outlet.take() {
            case .empty, .ended: return
            case .change(.failed(let error)): failure = error
            case .change(.result): preconditionFailure("a result is taken where it stands")
            case .change(.changed(let change)):
                change.apply(to: &current)
                onChange?(change)
            case .resultDue:
                guard let result = registration.items(outlet) else { return }
                current = result
                onChange?(nil)
            }
        }
    }
}
