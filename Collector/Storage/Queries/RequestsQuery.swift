import MartletTelemetry

/// A question about kept requests, a page at a time.
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
        /// Whether the earliest, or the fastest, comes first.
        package var ascending: Bool

        package init(_ key: Key = .time, ascending: Bool = false) {
            self.key = key
            self.ascending = ascending
        }
    }

    /// The times at which the requests started, by the senders' clocks.
    package var window: TimeWindow
    package var filter: RequestFilter
    /// Whether requests that did not fail are left out.
    package var onlyFailed = false
    /// Requests that took this time or less are left out, in nanoseconds; `nil` leaves out none.
    package var slowerThan: UInt64?
    /// Requests that took this time or more are left out, in nanoseconds; `nil` leaves out none.
    package var fasterThan: UInt64?
    /// A text that address, error, headers, bodies or another kept field have to contain, in any case of ASCII letters; `nil`
    /// leaves out none.
    package var text: String?
    package var order: Order
    /// The id of the last request on the page before; `nil` for the first page.
    package var before: String?
    /// Requests of the page at most.
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
    /// The kept requests that the query selects, on all pages.
    package var count: Int
    /// Whether another page follows.
    package var isThereMore: Bool

    package init(requests: [StoredSpan], count: Int, isThereMore: Bool) {
        self.requests = requests
        self.count = count
        self.isThereMore = isThereMore
    }
}

/// The error of an id that no kept request has, or has any more.
package struct UnknownRequest: Error, Equatable, CustomStringConvertible {
    package var id: String

    package init(id: String) {
        self.id = id
    }

    /// The error as a person reads it.
    package static let sentence = "no request with this id is kept"

    package var description: String { Self.sentence }
}
