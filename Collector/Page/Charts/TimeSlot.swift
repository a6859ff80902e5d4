import MartletReports
import MartletStorage
import MartletTelemetry

/// The requests of a part of a window.
struct TimeSlot: Sendable {
    var window: TimeWindow
    var group: RequestGroup
    /// `nil` if there are no requests.
    private(set) var measures: RequestMeasures?

    /// - Parameter dataSince: see ``StatisticsAnswer/dataSince``.
    init(_ window: TimeWindow, _ group: RequestGroup, dataSince: UnixNanoseconds? = nil) {
        (self.window, self.group) = (window, group)
        measures = group.isEmpty ? nil : group.measures(seconds: window.since(dataSince).seconds)
    }

    /// Returns the slots of an answer, with the requests of some of its groups in each.
    ///
    /// One that the window cuts to less than half is joined to its neighbour (``SlotGrid/blocks``): a rate over a few seconds says
    /// nothing, because senders report every ten seconds or less often.
    ///
    /// - Parameters:
    ///   - rows: the indexes of the groups.
    ///   - dataSince: see ``StatisticsAnswer/dataSince``.
    static func all(
        of rows: some Collection<Int>, in slots: GroupSlots, dataSince: UnixNanoseconds? = nil
    ) -> [TimeSlot] {
        slots.grid.blocks.map { block in
            TimeSlot(
                slots.grid.window(ofSlots: block),
                rows.reduce(into: RequestGroup(values: [])) { sum, row in
                    for slot in block { sum.merge(slots.groups[row][slot]) }
                }, dataSince: dataSince)
        }
    }

    /// Returns the slot with the highest rate; `nil` if a slot is without requests. Its sender may report less often than slots begin,
    /// and has the requests of several slots in one.
    static func busiest(of slots: [TimeSlot]) -> TimeSlot? {
        let inner = slots.dropFirst().dropLast()
        guard inner.count > 1, inner.allSatisfy({ $0.measures != nil }), let length = inner.first?.window.length else {
            return nil
        }
        // The window cuts the slots at its ends, and an interval that it cuts counts as a whole. Over the length of a whole slot the
        // rate is not too high.
        let all = slots.map { $0.lasting(atLeast: length) }
        return all.max { ($0.measures?.perSecond ?? 0) < ($1.measures?.perSecond ?? 0) }
    }

    private func lasting(atLeast length: UInt64) -> TimeSlot {
        TimeSlot(TimeWindow(from: window.from, to: window.from + max(length, window.length)), group)
    }
}
