import MartletReports
import MartletStorage
import MartletTelemetry

/// The requests of a part of a window.
struct TimeSlot: Sendable {
    var window: TimeWindow
    var group: RequestGroup
    /// `nil` if there are no requests.
    private(set) var measures: RequestMeasures?

    init(_ window: TimeWindow, _ group: RequestGroup) {
        (self.window, self.group) = (window, group)
        measures = group.isEmpty ? nil : group.measures(seconds: window.seconds)
    }

    /// Returns the slots of an answer, with the requests of some of its groups in each.
    ///
    /// The window cuts the first and the last slot. One that is shorter than half the others is joined to its neighbour: a
    /// rate over a few seconds says nothing, because senders report every ten seconds or less often.
    ///
    /// - Parameter rows: the indexes of the groups.
    static func all(of rows: some Collection<Int>, in slots: GroupSlots) -> [TimeSlot] {
        var parts = (0..<slots.grid.count).map { slot in
            (
                window: slots.grid.window(ofSlot: slot),
                group: rows.reduce(into: RequestGroup(values: [])) { $0.merge(slots.groups[$1][slot]) }
            )
        }
        let least = Double(slots.grid.step) / 2e9
        if parts.count > 1, parts[0].window.seconds < least {
            let first = parts.removeFirst()
            parts[0].window.from = first.window.from
            parts[0].group.merge(first.group)
        }
        if parts.count > 1, parts[parts.count - 1].window.seconds < least {
            let last = parts.removeLast()
            parts[parts.count - 1].window.to = last.window.to
            parts[parts.count - 1].group.merge(last.group)
        }
        return parts.map { TimeSlot($0.window, $0.group) }
    }

    /// Returns the slot with the highest rate; `nil` if a slot is without requests. Its sender may report less often than slots begin,
    /// and has the requests of several slots in one.
    static func busiest(of slots: [TimeSlot]) -> TimeSlot? {
        // The window cuts the slots at its ends, and an interval that it cuts counts as a whole.
        let whole = slots.dropFirst().dropLast()
        guard whole.count > 1, whole.allSatisfy({ $0.measures != nil }) else { return nil }
        return whole.max { ($0.measures?.perSecond ?? 0) < ($1.measures?.perSecond ?? 0) }
    }
}
