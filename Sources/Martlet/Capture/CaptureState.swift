/// The mode in force and, where it is not the one that was asked for, why.
struct CaptureState: Sendable {
    var mode: CaptureMode
    var reason: String?
    /// What capture cannot do here, a sentence each.
    var limits: [String] = []

    /// As it is now: the agent may have switched itself off.
    var now: CaptureState {
        guard let reason = Capture.offReason else { return self }
        return CaptureState(mode: .off, reason: reason, limits: limits)
    }

    /// Installs what the mode needs; where automatic capture cannot be, it is explicit and says so.
    static func install(_ capture: MartletConfiguration.Capture) -> CaptureState {
        #if os(Linux)
        return install(capture, automatic: AutomaticCapture.install)
        #else
        // Written for services that are developed on a Mac; it has not been tried there.
        return CaptureState(mode: .off, reason: "URLSession capture is for Linux")
        #endif
    }

    #if os(Linux)
    /// - Parameter automatic: What installs the hook, or fails.
    static func install(
        _ capture: MartletConfiguration.Capture, automatic install: () throws(AutomaticCapture.Failure) -> Void
    ) -> CaptureState {
        guard NativeLoader.type != nil else {
            return CaptureState(mode: .off, reason: AutomaticCapture.Failure.noNativeLoader.rawValue)
        }
        var state = capture == .automatic ? automatic(install) : CaptureState(mode: .explicit)
        state.limits = limits
        Capture.isExplicit.store(state.mode == .explicit, ordering: .relaxed)
        return state
    }

    private static var limits: [String] {
        guard EasyHandle.isAvailable else {
            return ["libcurl's handle was not found: requests have no phases and send no trace headers"]
        }
        return EasyHandle.canCallBeforeRequest ? [] : ["libcurl is older than 7.80: requests send no trace headers"]
    }

    private static func automatic(_ install: () throws(AutomaticCapture.Failure) -> Void) -> CaptureState {
        do {
            try install()
            return CaptureState(mode: .automatic)
        } catch {
            return CaptureState(
                mode: .explicit, reason: "\(error.rawValue); sessions need configuration.captureWithMartlet()")
        }
    }
    #endif
}
