/// The sessions of `URLSession` whose requests the agent captures.
public enum CaptureMode: String, Sendable {
    /// Every session of the process.
    case automatic
    /// Sessions whose configuration was passed through `captureWithMartlet()`.
    case explicit
    /// No session.
    case off
}
