/// The mode in force and, where it is not the one that was asked for, why.
struct CaptureState: Sendable {
    var mode: CaptureMode
    var reason: String?
    /// What capture cannot do here, a sentence each.
    var limits: [String] = []
    /// Says why requests may be missed since the start; `nil` where they are not. Capture knows.
    var loss: @Sendable () -> String? = { nil }

    static let switchedOff = CaptureState(mode: .off, reason: "MARTLET_ENABLED is false")

    /// As it is now: the agent may have switched itself off, or do less than it can.
    func now(keeping recorder: Recorder) -> CaptureState {
        if let reason = CaptureSwitch.state.reason { return CaptureState(mode: .off, reason: reason, limits: limits) }
        let reasons = [reason, loss(), recorder.restriction].compactMap(\.self)
        return CaptureState(
            mode: mode, reason: reasons.isEmpty ? nil : reasons.joined(separator: "; "), limits: limits)
    }
}
