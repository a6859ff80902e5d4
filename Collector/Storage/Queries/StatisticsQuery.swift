package struct StatisticsQuery: Sendable, Equatable {
    package var window: TimeWindow
    package var filter: RequestFilter
    package var by: [Dimension]

    package init(window: TimeWindow, filter: RequestFilter = RequestFilter(), by: [Dimension]) {
        self.window = window
        self.filter = filter
        self.by = by
    }
}
