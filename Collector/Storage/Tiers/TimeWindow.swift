import MartletTelemetry

/// The times in `(from, to]`. A point belongs to the window if its interval ends in it.
package struct TimeWindow: Sendable, Equatable {
    package var from: UnixNanoseconds
    package var to: UnixNanoseconds

    package init(from: UnixNanoseconds, to: UnixNanoseconds) {
        self.from = from
        self.to = to
    }

    package var seconds: Double { to > from ? Double(to - from) / 1e9 : 0 }
}
