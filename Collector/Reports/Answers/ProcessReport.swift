import MartletStorage
import MartletTelemetry

/// The processes of services over time. Its JSON is a fixed format.
package struct ProcessReport: Sendable, Equatable, Codable {
    /// RFC 3339, UTC.
    package var from: String
    package var to: String
    /// The length of a slot, in seconds. The window cuts the first and the last one.
    package var step: Double
    /// The end of each slot, RFC 3339, UTC.
    package var ends: [String]
    package var rows: [Row]

    /// The processes of one service.
    package struct Row: Sendable, Equatable, Codable {
        package var service: String
        /// Processes that told of themselves in the window.
        package var processes: Int
        /// Those of them that started in it: more than the service's instances if some were restarted.
        package var started: Int
        /// CPU time in the window, in seconds.
        package var cpuSeconds: Double?
        /// `nil` if there is nothing to tell.
        package var busyWait: BusyWait?
        /// The measures of each slot; `nil` for a slot without figures.
        package var slots: [ProcessMeasures?]

        private enum CodingKeys: String, CodingKey {
            case service, processes, started, slots
            case cpuSeconds = "cpu_seconds"
            case busyWait = "busy_wait"
        }

        package init(_ series: ProcessSeries, _ busyWait: BusyWait?) {
            service = series.service
            processes = series.processes
            started = series.started
            cpuSeconds = series.total.cpu.map { Double($0) / 1e9 }
            self.busyWait = busyWait
            slots = series.slots.map { $0.map(ProcessMeasures.init) }
        }
    }

    private enum CodingKeys: String, CodingKey {
        case from, to, ends, rows
        case step = "step_seconds"
    }

    package init(_ answer: ProcessAnswer, _ busyWaits: [BusyWait]) {
        from = TimeText.format(answer.grid.window.from)
        to = TimeText.format(answer.grid.window.to)
        step = Double(answer.grid.step) / 1e9
        ends = (0..<answer.grid.count).map { TimeText.format(answer.grid.window(ofSlot: $0).to) }
        rows = answer.services.map { series in Row(series, busyWaits.first { $0.service == series.service }) }
    }
}
