/// One request whose details were kept: a span.
package struct RequestDetail: Sendable, Equatable {
    package var dimensions: RequestDimensions
    /// 16 and 8 bytes (W3C Trace Context, section 3.2.2).
    package var traceID: [UInt8]
    package var spanID: [UInt8]
    /// Empty for a root.
    package var parentSpanID: [UInt8]
    package var start: UnixNanoseconds
    package var durationNanoseconds: UInt64
    /// Scheme, host, port and path: no user, no password, no query, no fragment.
    package var url: String
    package var bytesSent: UInt64
    package var bytesReceived: UInt64
    /// What the error said, in words; `nil` for a success.
    package var message: String?

    package init(
        dimensions: RequestDimensions, traceID: [UInt8], spanID: [UInt8], parentSpanID: [UInt8] = [],
        start: UnixNanoseconds, durationNanoseconds: UInt64, url: String, bytesSent: UInt64 = 0,
        bytesReceived: UInt64 = 0, message: String? = nil
    ) {
        self.dimensions = dimensions
        self.traceID = traceID
        self.spanID = spanID
        self.parentSpanID = parentSpanID
        self.start = start
        self.durationNanoseconds = durationNanoseconds
        self.url = url
        self.bytesSent = bytesSent
        self.bytesReceived = bytesReceived
        self.message = message
    }
}
