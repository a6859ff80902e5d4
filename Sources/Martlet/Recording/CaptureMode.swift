/// How requests of `URLSession` are seen.
public enum CaptureMode: String, Sendable {
    /// Every session of the process.
    case automatic
    /// Sessions whose configuration was passed through `captureWithMartlet()`.
    case explicit
    /// None.
    case off
}
