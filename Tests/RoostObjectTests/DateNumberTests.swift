import Foundation
import Roost
import RoostTestSupport
import Testing

/// Dates that are no moment, as a computation may make them: an index and a scan say the same of them, and nothing ends the
/// program.
@Suite("Dates that are no moment") struct DateNumberTests {
    struct Event: Codable, Identifiable, Indexed {
        var id: Int
        var at: Date
        var maybe: Date?
        var plain: Date { at }
        var plainMaybe: Date? { maybe }
        static var indexes: [Index<Event>] {
            [
                Index("at", \.at), Index("maybe", .descending(\.maybe)),
                Index("some", \.id, where: { $0.at < Date(timeIntervalSince1970: .nan) }),
            ]
        }
    }

    @Test("A date that is NaN compares to nothing, by an index and without") func comparisons()
        async throws
    {
        let seconds: [Double] = [.nan, -.infinity, -1, 0, 1, 1e300, .infinity]
        let dates = seconds.map { Date(timeIntervalSince1970: $0) }
        let events = try await Workspace.inMemory().repository(of: Event.self)
        try await events.saveAll(
            (0..<70).map {
                Event(id: $0, at: dates[$0 % 7], maybe: $0 % 2 == 0 ? nil : dates[$0 % 7])
            })
        try await events.indexesBuilt()
        for date in dates {
            let pairs: [(Query<Event>, Query<Event>)] = [
                (events.where { $0.at <= date }, events.where { $0.plain <= date }),
                (events.where { $0.at >= date }, events.where { $0.plain >= date }),
                (events.where { $0.at < date }, events.where { $0.plain < date }),
                (events.where { $0.at > date }, events.where { $0.plain > date }),
                (events.where { !($0.at >= date) }, events.where { !($0.plain >= date) }),
                (events.where { $0.maybe <= date }, events.where { $0.plainMaybe <= date }),
                (events.where { $0.maybe >= date }, events.where { $0.plainMaybe >= date }),
            ]
            for (indexed, scanned) in pairs {
                #expect(try indexed.count() == scanned.count())
                #expect(try indexed.fetch().map(\.id) == scanned.fetch().map(\.id))
                #expect(try !scanned.explain().isEmpty)
            }
            #expect(try events.where { $0.at >= date && $0.at != $0.at }.isEmpty())
        }
        let nan = dates[0]
        #expect(try events.where { $0.at <= nan || $0.at >= nan }.isEmpty())
        #expect(try events.where { $0.at <= $0.plain }.count() == 60)
    }
}
