import MartletTelemetry

/// A query for kept requests, one page at a time.
package struct RequestsQuery: Sendable, Equatable {
    /// The order of the requests. Requests of equal rank are in the order in which they were stored.
    package struct Order: Sendable, Equatable {
        /// The raw value is the name on the command line and in a query.
        package enum Key: String, Sendable, CaseIterable {
            /// The start of the request, by the sender's clock.
            case time
            case duration
        }

        package var key: Key
        /// Whether the earliest or the fastest request comes first.
        package var ascending: Bool

        package init(_ key: Key = .time, ascending: Bool = false) {
            self.key = key
            self.ascending = ascending
        }
    }

    /// The times at which the requests started, by the senders' clocks.
    package var window: TimeWindow
    package var filter: RequestFilter
    /// Whether the query leaves out requests that did not fail.
    package var onlyFailed = false
    /// Selects only requests that took longer than this, in nanoseconds; `nil` selects all.
    package var slowerThan: UInt64?
    /// Selects only requests that took less than this, in nanoseconds; `nil` selects all.
    package var fasterThan: UInt64?
    /// Selects only requests with this text in their address, error, headers, bodies or another kept field. The case of ASCII
    /// letters is ignored. `nil` selects all.
    package var text: String?
    package var order: Order
    /// The id of the last request on the previous page; `nil` for the first page.
    package var before: String?
    /// The largest number of requests on the page.
    package var limit: Int

    package init(
        window: TimeWindow, filter: RequestFilter = RequestFilter(), order: Order = Order(), before: String? = nil,
        limit: Int
    ) {
        self.window = window
        self.filter = filter
        self.order = order
        self.before = before
        self.limit = limit
    }
}

/// A page of kept requests.
package struct RequestsAnswer: Sendable, Equatable {
    package var requests: [StoredSpan]
    /// The number of kept requests that the query selects, over all pages.
    package var count: Int
    /// Whether another page follows.
    package var isThereMore: Bool

    package init(requests: [StoredSpan], count: Int, isThereMore: Bool) {
        self.requests = requests
        self.count = count
        self.isThereMore = isThereMore
    }
}

/// The error for an id that belongs to no kept request, or no longer does.
package struct UnknownRequest: Error, Equatable, CustomStringConvertible {
    package var id: String

    package init(id: String) {
        self.id = id
    }

    /// The message for users.
    package static let sentence = "no request with this id is kept"

    package var description: String { Self.sentence }
}

/// A kept span and its sender.
package struct StoredSpan: Sendable, Equatable {
    /// The store's id of the span: a few lower-case letters and digits.
    package var id: String
    package var resource: TelemetryResource
    package var span: SpanRecord

    package init(id: String, resource: TelemetryResource, span: SpanRecord) {
        self.id = id
        self.resource = resource
        self.span = span
    }
}

/// Kept spans of a trace, in order of their starts.
package struct TraceAnswer: Sendable, Equatable {
    package var spans: [StoredSpan]
    /// The number of spans that were left out.
    package var more: Int

    package init(spans: [StoredSpan], more: Int) {
        self.spans = spans
        self.more = more
    }
}

/// A call that spans showed at both ends: a client's span and, as its child, the span of the server that it reached.
package struct ObservedCall: Sendable, Hashable {
    /// The calling service, and the host that it called (``Dimension/host``).
    package var caller: String
    package var calledHost: String
    /// The service that answered, and the host under which it was reached.
    package var callee: String
    package var servedHost: String

    package init(caller: String, calledHost: String, callee: String, servedHost: String) {
        self.caller = caller
        self.calledHost = calledHost
        self.callee = callee
        self.servedHost = servedHost
    }
}

/// A call with the environment of the callee, and the first and the latest time at which spans showed it.
package struct RememberedCall: Sendable, Equatable {
    package var call: ObservedCall
    package var environment: String
    /// Nanoseconds since 1970.
    package var first: Int64
    package var last: Int64

    package init(_ call: ObservedCall, environment: String, first: Int64, last: Int64) {
        self.call = call
        self.environment = environment
        self.first = first
        self.last = last
    }
}
