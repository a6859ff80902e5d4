/// The capture mode in force, and the reason where it is not the configured mode.
struct CaptureState: Sendable {
    var mode: CaptureMode
    var reason: String?
    /// The limits of capture in this process, a sentence each.
    var limits: [String] = []
    /// Returns the reason why requests may be missed since the installation; `nil` where none are.
    var loss: @Sendable () -> String? = { nil }

    static let switchedOff = CaptureState(mode: .off, reason: "MARTLET_ENABLED is false")

    /// Returns the state at this moment: the agent may have switched itself off, or may do less than it can.
    func now(keeping recorder: Recorder) -> CaptureState {
        if let reason = CaptureSwitch.state.reason { return CaptureState(mode: .off, reason: reason, limits: limits) }
        let reasons = [reason, loss(), recorder.restriction].compactMap(\.self)
        return CaptureState(
            mode: mode, reason: reasons.isEmpty ? nil : reasons.joined(separator: "; "), limits: limits)
    }
}
