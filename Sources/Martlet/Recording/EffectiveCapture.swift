/// The capture mode in force, and the reason where it is not the configured mode.
struct EffectiveCapture: Sendable {
    var mode: CaptureMode
    var reason: String?
    /// The limits of capture in this process, a sentence each.
    var limits: [String] = []
    /// The reason why no rule can change requests in this process; `nil` where rules can.
    var rulesLimit: String?
    /// Returns a sentence that names the hooks that were taken out since the installation; `nil` where none were. Their
    /// requests may be missed.
    var missingHooks: @Sendable () -> String? = { nil }

    static let switchedOff = EffectiveCapture(mode: .off, reason: "MARTLET_ENABLED is false")

    /// Returns the mode in force at this moment: the agent may have switched itself off, or may do less than it can.
    func now(restrictedBy recorder: Recorder) -> EffectiveCapture {
        if let reason = CaptureSwitch.state.reason {
            return EffectiveCapture(mode: .off, reason: reason, limits: limits)
        }
        let reasons = [reason, missingHooks(), recorder.restriction].compactMap(\.self)
        return EffectiveCapture(
            mode: mode, reason: reasons.isEmpty ? nil : reasons.joined(separator: "; "), limits: limits)
    }
}
