import MartletReports
import MartletStorage
import MartletTelemetry

/// The processes of a service, shown with its requests.
struct ServiceProcesses: Sendable {
    let row: ProcessReport.Row
    private let slots: [TimeWindow]
    private let axis: TimeAxis

    /// `nil` if the view is not about exactly one service, or if its processes send no figures.
    init?(_ pageRequest: PageRequest, _ axis: TimeAxis, in storage: some Storage) async throws {
        let dimensions = Set(pageRequest.filter.wanted.keys.filter { !$0.isSenderAttribute && $0 != .kind })
        guard dimensions.isEmpty, pageRequest.filter.wanted[.service]?.count == 1 else { return nil }
        let query = ProcessQuery(
            window: pageRequest.window, filter: pageRequest.filter,
            step: TrendStep.fitting(pageRequest.window, slots: Endpoint.slots))
        let answer = try await storage.processes(query)
        guard let series = answer.services.first else { return nil }
        row = ProcessReport.Row(series, try await storage.busyWaits(of: answer, pageRequest.filter).first)
        slots = (0..<answer.grid.count).map { answer.grid.window(ofSlot: $0) }
        self.axis = TimeAxis(answer.grid.window, marks: axis.marks)
    }

    /// - Parameter requests: returns the address of the requests in a part of the window.
    func html(_ requests: @escaping (TimeWindow) -> PageAddress) -> HTML {
        element("section", Attribute("aria-labelledby", "h-process")) {
            element("div", .class("bar-head")) {
                element("h2", .id("h-process")) {
                    row.processes == 1 ? "Process" : "Processes "
                    if row.processes > 1 { element("span", .class("count")) { String(row.processes) } }
                }
                element("p", .class("aside")) { sentence }
            }
            busyWait
            element("div", .class("three")) {
                for chart in charts(requests) { chart.html }
            }
        }
    }

    @HTMLBuilder private var busyWait: HTML {
        if let wait = row.busyWait {
            element("aside", .class("notice warn"), Attribute("aria-labelledby", "n-busy")) {
                element("h2", .id("n-busy")) {
                    Icon.part.html
                    "Up to \(FigureText.seconds(wait.estimate)) of CPU time may be spent on waiting"
                }
                element("p") { wait.sentence.capitalizedFirst + "." }
                element("p") { wait.advice.capitalizedFirst + "." }
            }
        }
    }

    /// The figures that have no chart.
    private var sentence: String {
        let last = row.slots.last { $0 != nil } ?? nil
        let started = row.started > 0 ? "\(row.started) started in this window" : "none started in this window"
        return [
            started, last?.threads.map { "\(FigureText.fixed($0, 0)) threads" },
            last?.descriptors.map { "\(FigureText.fixed($0, 0)) open files" },
        ].compactMap(\.self).joined(separator: ", ")
    }

    private func charts(_ requests: @escaping (TimeWindow) -> PageAddress) -> [ProcessChart] {
        func chart(_ id: String, _ title: String, _ note: String, _ unit: ProcessChart.Unit, _ lines: [TimeLine])
            -> ProcessChart
        {
            ProcessChart(
                id: id, title: title, note: note, unit: unit, lines: lines, slots: slots, axis: axis,
                requests: requests)
        }
        func figures(_ figure: (ProcessMeasures) -> Double?) -> [Double?] { row.slots.map { $0.flatMap(figure) } }
        let largest = row.processes > 1 ? figures { $0.largestMemory.map { Double($0) } } : []
        return [
            chart(
                "h-cpu", "CPU", "cores", .cores,
                [
                    TimeLine(name: "l50", label: "all", dash: nil, figures: figures(\.cores)),
                    TimeLine(name: "l95", label: "in the kernel", dash: "7 4", figures: figures(\.systemCores)),
                ]),
            chart(
                "h-memory", "Memory", "in RAM", .bytes,
                [
                    TimeLine(name: "l50", label: "all", dash: nil, figures: figures(\.memory)),
                    TimeLine(name: "l95", label: "largest process", dash: "7 4", figures: largest),
                ]),
            chart(
                "h-delay", "Wait for a thread", "longest, ms", .milliseconds,
                [
                    TimeLine(name: "l50", label: "task pool", dash: nil, figures: figures { $0.poolDelay?.max }),
                    TimeLine(
                        name: "l95", label: "main queue", dash: "7 4", figures: figures { $0.mainQueueDelay?.max }),
                ]),
        ]
    }
}
