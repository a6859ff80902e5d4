/// A way to upload, one batch at a time. For the agent's thread alone.
protocol UploadTransport: AnyObject {
    /// Begins an upload; ``proceed(for:)`` tells how it goes on.
    func start(_ upload: Upload)

    /// Goes on with the upload, for `duration` at most; returns `nil` while it is under way.
    func proceed(for duration: Duration) -> UploadEnd?

    /// Gives up the upload under way, if any. It may or may not have arrived.
    func cancel()

    /// Lets go of connections and other means that only the next upload needs.
    func rest()
}

/// A batch on its way to the collector.
struct Upload: Sendable {
    let url: String
    let headers: [(name: String, value: String)]
    let body: [UInt8]
    let timeout: Duration
}

/// The end of an upload.
enum UploadEnd: Equatable {
    case answered(UploadAnswer)
    case failed(reason: String)
    /// No answer came in time, and waiting for it has kept a core busy.
    case timedOut(reason: String)
}
