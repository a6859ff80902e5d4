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
