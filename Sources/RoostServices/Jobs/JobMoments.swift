#if Services
    public import Foundation

    /// The moments at which a job comes back.
    public struct JobMoments: Sendable, Hashable {
        private enum Rule: Hashable {
            case every(seconds: Int64)
            case matching(DateComponents, TimeZone)
        }

        private let rule: Rule

        /// Each whole multiple of `interval` since the begin of 1970: of an hour each full hour, of a day each midnight in Greenwich.
        ///
        /// - Precondition: `interval` is of whole seconds, and one of them at least.
        public static func every(_ interval: Duration) -> JobMoments {
            let (seconds, attoseconds) = interval.components
            precondition(seconds > 0 && attoseconds == 0, "moments are whole seconds apart")
            return JobMoments(rule: .every(seconds: seconds))
        }

        /// Each moment that has these components in the Gregorian calendar: with `DateComponents(hour: 3, minute: 30)` one each
        /// day, with `weekday: 2` too one each Monday. Smaller components that are not stated are zero. A time that a change of clocks leaves out
        /// is the one behind the gap, and of one that comes twice it is the first. A day that a month does not have is left out: `day: 31` has
        /// no moment in April.
        public static func matching(
            _ components: DateComponents, in timeZone: TimeZone
        ) -> JobMoments {
            var components = components
            let isOfDays =
                components.hour == nil && components.minute == nil && components.second == nil
            if isOfDays { components.hour = 0 }
            if components.hour != nil { components.minute = components.minute ?? 0 }
            components.second = components.second ?? 0
            return JobMoments(rule: .matching(components, timeZone))
        }

        /// The first moment after `date`; `nil` where there is none.
        public func next(after date: Date) -> Date? {
            switch rule {
            case .every(let seconds):
                let interval = Double(seconds)
                return Date(
                    timeIntervalSince1970: ((date.timeIntervalSince1970 / interval).rounded(.down)
                        + 1) * interval)
            case .matching(let components, let timeZone):
                return Self.moment(components, in: timeZone, after: date, .forward)
            }
        }

        /// The last moment that is not after `date`, as far as that can be told.
        func last(through date: Date) -> Date? {
            switch rule {
            case .every(let seconds):
                let interval = Double(seconds)
                return Date(
                    timeIntervalSince1970: (date.timeIntervalSince1970 / interval).rounded(.down)
                        * interval)
            case .matching(let components, let timeZone):
                let found = Self.moment(
                    components, in: timeZone, after: date.addingTimeInterval(0.001), .backward)
                return found.flatMap { $0 <= date ? $0 : nil }
            }
        }

        /// In so many years every day comes that ever does, on each weekday.
        private static let searchedYears = 400
        private static let searchedCount = 1000

        /// The nearest moment in a direction. The calendar takes the begin of the next day for one that is not there: that
        /// is passed over.
        private static func moment(
            _ components: DateComponents, in timeZone: TimeZone, after date: Date,
            _ direction: Calendar.SearchDirection
        ) -> Date? {
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = timeZone
            var place = date
            for _ in 0..<searchedCount {
                guard
                    let found = calendar.nextDate(
                        after: place, matching: components, matchingPolicy: .nextTime,
                        direction: direction),
                    abs(found.timeIntervalSince(date)) < Double(searchedYears) * 366 * 86_400
                else { return nil }
                if isOnDay(found, components, calendar) { return found }
                place = found
            }
            return nil
        }

        private static func isOnDay(
            _ moment: Date, _ components: DateComponents, _ calendar: Calendar
        ) -> Bool {
            let found = calendar.dateComponents([.year, .month, .day, .weekday], from: moment)
            func agrees(_ part: KeyPath<DateComponents, Int?>) -> Bool {
                components[keyPath: part].map { $0 == found[keyPath: part] } ?? true
            }
            return agrees(\.year) && agrees(\.month) && agrees(\.day) && agrees(\.weekday)
        }
    }
#endif
