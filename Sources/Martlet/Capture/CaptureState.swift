/// The mode in force and, where it is not the one that was asked for, why.
struct CaptureState: Sendable {
    var mode: CaptureMode
    var reason: String?

    /// Installs what the mode needs; where automatic capture cannot be, it is explicit and says so.
    static func install(_ capture: MartletConfiguration.Capture) -> CaptureState {
        #if os(Linux)
        guard NativeLoader.type != nil else {
            return CaptureState(mode: .off, reason: AutomaticCapture.Failure.noNativeLoader.rawValue)
        }
        let state = capture == .automatic ? automatic() : CaptureState(mode: .explicit)
        Capture.isExplicit.store(state.mode == .explicit, ordering: .relaxed)
        return state
        #else
        // Written for services that are developed on a Mac; it has not been tried there.
        return CaptureState(mode: .off, reason: "URLSession capture is for Linux")
        #endif
    }

    #if os(Linux)
    private static func automatic() -> CaptureState {
        do {
            try AutomaticCapture.install()
            return CaptureState(mode: .automatic)
        } catch {
            return CaptureState(
                mode: .explicit, reason: "\(error.rawValue); sessions need configuration.captureWithMartlet()")
        }
    }
    #endif
}
