/// Whose bodies kept details have, as far as they are text.
public enum CapturedBodies: String, Sendable, CaseIterable {
    case none
    /// Of failed requests.
    case failures
    case all
}
