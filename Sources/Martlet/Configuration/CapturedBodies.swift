/// The requests whose bodies are in kept details, as far as the bodies are text.
public enum CapturedBodies: String, Sendable, CaseIterable {
    case none
    /// The bodies of failed requests.
    case failures
    case all
}
