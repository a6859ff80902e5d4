/// A way that uploads take, one at a time. For the agent's thread alone.
protocol UploadTransport: AnyObject {
    /// Begins an upload; how it goes on is told by ``proceed(for:)``.
    func start(_ upload: Upload)

    /// Goes on with the upload, for so long at most; `nil` while it is under way.
    func proceed(for duration: Duration) -> UploadEnd?

    /// Gives up the upload under way, if there is one. It may or may not have arrived.
    func cancel()

    /// Lets go of what is only needed for the next upload, such as connections.
    func rest()
}

/// A batch on its way to the collector.
struct Upload: Sendable {
    let url: String
    let headers: [(name: String, value: String)]
    let body: [UInt8]
    let timeout: Duration
}

/// How an upload ended.
enum UploadEnd: Equatable {
    case answered(UploadAnswer)
    case failed(reason: String)
    /// It was awaited in vain, which has cost a core all the while.
    case awaitedInVain(reason: String)
}
