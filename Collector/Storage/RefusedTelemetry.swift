import MartletTelemetry

/// The points and spans of one sender that a collector has refused since it started, as far as it remembers.
package struct RefusedTelemetry: Sendable, Equatable {
    /// A sentence of the collector, and the number of points and spans that it refused for this reason.
    package struct Reason: Sendable, Equatable {
        package var text: String
        package var count: UInt64 = 0
        package var latest: UnixNanoseconds = 0
    }

    /// The maximum number of reasons that are shown.
    private static let maxReasons = 3

    package let resource: TelemetryResource
    /// The start of the collector, by its clock, as all times here.
    package let since: UnixNanoseconds
    /// The first and the latest refusal.
    package private(set) var first: UnixNanoseconds = .max
    package private(set) var latest: UnixNanoseconds = 0
    package private(set) var points: UInt64 = 0
    package private(set) var spans: UInt64 = 0
    private var counted: [String: Reason] = [:]

    package init(_ resource: TelemetryResource, since: UnixNanoseconds) {
        (self.resource, self.since) = (resource, since)
    }

    /// The latest reasons, then those of most points and spans.
    package var reasons: [Reason] {
        let sorted = counted.values.sorted { ($1.latest, $1.count, $0.text) < ($0.latest, $0.count, $1.text) }
        return Array(sorted.prefix(Self.maxReasons))
    }

    /// Adds the refusals of one body, by reason.
    ///
    /// - Parameter signal: metrics have points, and traces have spans.
    package mutating func add(_ refused: [String: Int], of signal: Signal, at time: UnixNanoseconds) {
        (first, latest) = (min(first, time), max(latest, time))
        for (reason, count) in refused {
            let count = UInt64(clamping: count)
            switch signal {
            case .metrics: points = points.adding(count)
            case .traces: spans = spans.adding(count)
            }
            var known = counted[reason] ?? Reason(text: reason)
            (known.count, known.latest) = (known.count.adding(count), time)
            counted[reason] = known
        }
    }
}

extension TelemetryResource {
    /// The sender without the attributes that may change while it lives. Stores distinguish senders by it.
    package var identity: TelemetryResource {
        var sender = TelemetryResource(service: "", instance: "")
        for text in SenderText.identity { text.set(text.value(of: self) ?? "", of: &sender) }
        return sender
    }
}
