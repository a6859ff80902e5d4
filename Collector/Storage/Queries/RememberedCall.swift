/// A call, with the environment of the callee, and the first and the latest time at which spans showed it.
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
