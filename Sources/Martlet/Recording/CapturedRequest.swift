import Foundation
import MartletTelemetry

/// A request that ended, as capture hands it to recording. The URL goes no further: recording keeps its endpoint.
struct CapturedRequest: Sendable {
    var kind = RequestKind.client
    var method: String
    var url: URL
    var status: Int?
    /// `error.type`; `nil` for a success.
    var error: String?
    /// What the error said.
    var message: String?
    /// By the wall clock.
    var start: UnixNanoseconds
    /// By the monotonic clock.
    var durationNanoseconds: UInt64
    var bytesSent: UInt64 = 0
    var bytesReceived: UInt64 = 0
}
