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
        /// is the one behind the gap, and of one that comes twice it is the first.
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
                return calendar(timeZone).nextDate(
                    after: date, matching: components, matchingPolicy: .nextTime)
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
                let found = calendar(timeZone).nextDate(
                    after: date.addingTimeInterval(0.001), matching: components,
                    matchingPolicy: .nextTime, direction: .backward)
                return found.flatMap { $0 <= date ? $0 : nil }
            }
        }

        private func calendar(_ timeZone: TimeZone) -> Calendar {
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = timeZone
            return calendar
        }
    }
#endif
