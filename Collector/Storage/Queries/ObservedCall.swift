/// A call that spans showed at both ends: the span of a client, and below it the span of the server that was reached.
package struct ObservedCall: Sendable, Hashable {
    /// The service that called, and the host that it called (``Dimension/host``).
    package var caller: String
    package var calledHost: String
    /// The other service that served, and the host that it was reached as.
    package var callee: String
    package var servedHost: String

    package init(caller: String, calledHost: String, callee: String, servedHost: String) {
        self.caller = caller
        self.calledHost = calledHost
        self.callee = callee
        self.servedHost = servedHost
    }
}
