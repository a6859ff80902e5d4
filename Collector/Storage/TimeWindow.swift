import MartletTelemetry

/// `(from, to]`: a point belongs to it when its interval's end does.
package struct TimeWindow: Sendable, Equatable {
    package var from: UnixNanoseconds
    package var to: UnixNanoseconds

    package init(from: UnixNanoseconds, to: UnixNanoseconds) {
        self.from = from
        self.to = to
    }

    package var seconds: Double { to > from ? Double(to - from) / 1e9 : 0 }
}
