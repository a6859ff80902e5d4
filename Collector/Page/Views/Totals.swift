import MartletReports
import MartletStorage
import MartletTelemetry

/// The figures of all requests of one kind, and the same over time.
struct Totals: Sendable {
    /// `nil` if there are no requests.
    var measures: RequestMeasures?
    var slots: [TimeSlot]
    /// The time since which the rate counts; `nil` if it is the window's beginning.
    var ratesSince: UnixNanoseconds?

    /// - Parameter answer: groups by the kind, at the last place, and by others.
    init(of kind: RequestKind, in answer: StatisticsAnswer) {
        measures = answer.totals[kind]?.measures(seconds: answer.ratedWindow.seconds)
        let rows = answer.groups.indices.filter { answer.groups[$0].values.last == kind.rawValue }
        slots = answer.slots.map { TimeSlot.all(of: rows, in: $0, dataSince: answer.dataSince) } ?? []
        ratesSince = answer.ratedWindow == answer.window ? nil : answer.ratedWindow.from
    }
}
