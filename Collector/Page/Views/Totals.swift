import MartletReports
import MartletStorage
import MartletTelemetry

/// The figures of all requests of one kind, and the same over time.
struct Totals: Sendable {
    /// `nil` if there are no requests.
    var measures: RequestMeasures?
    var slots: [TimeSlot]

    /// - Parameter answer: groups by the kind, at the last place, and by others.
    init(of kind: RequestKind, in answer: StatisticsAnswer) {
        measures = answer.totals[kind]?.measures(seconds: answer.window.seconds)
        let rows = answer.groups.indices.filter { answer.groups[$0].values.last == kind.rawValue }
        slots = answer.slots.map { TimeSlot.all(of: rows, in: $0) } ?? []
    }
}
