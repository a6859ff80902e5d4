/// The requests whose bodies are in kept details, as far as the bodies are text.
public enum CapturedBodies: String, Sendable, CaseIterable {
    /// No body.
    case none
    /// The bodies of failed requests.
    case failures
    /// The bodies of all requests whose details are kept.
    case all
}
