#if os(Linux)
import FoundationNetworking
#endif

extension EffectiveCapture {
    /// Installs the hooks that the mode needs. Where automatic capture is not possible, the mode is explicit and has the
    /// reason.
    static func install(_ capture: MartletConfiguration.Capture) -> EffectiveCapture {
        #if os(Linux)
        return install(capture, automatic: AutomaticCapture.install)
        #else
        // This branch is for services that are developed on a Mac. It has not been tried there.
        return EffectiveCapture(mode: .off, reason: "URLSession capture works on Linux only")
        #endif
    }

    /// Installs the hooks that capture every session in a scope, regardless of the mode of the process's agent.
    static func installForScope() -> EffectiveCapture {
        #if os(Linux)
        var effective = automatic(AutomaticCapture.install)
        effective.limits = limits
        effective.rulesLimit = rulesLimit
        return effective
        #else
        return EffectiveCapture(mode: .off, reason: "URLSession capture works on Linux only")
        #endif
    }

    #if os(Linux)
    /// - Parameters:
    ///   - loader: Foundation's own loader; `nil` where it was not found.
    ///   - automatic: the function that installs the hooks.
    static func install(
        _ capture: MartletConfiguration.Capture, loader: URLProtocol.Type? = NativeLoader.type,
        automatic install: () throws(AutomaticCapture.Failure) -> Void
    ) -> EffectiveCapture {
        guard loader != nil else {
            return EffectiveCapture(mode: .off, reason: AutomaticCapture.Failure.noNativeLoader.rawValue)
        }
        var effective = capture == .automatic ? automatic(install) : EffectiveCapture(mode: .explicit)
        effective.limits = limits
        effective.rulesLimit = rulesLimit
        return effective
    }

    private static var limits: [String] {
        limits(
            findsLibcurl: EasyHandle.hasLibcurl, findsHandle: EasyHandle.isAvailable,
            callsBeforeRequest: EasyHandle.canCallBeforeRequest)
    }

    /// The reason why no rule can be in force; `nil` where rules can. All kinds of rules need the same.
    private static var rulesLimit: String? {
        guard EasyHandle.hasLibcurl, EasyHandle.isAvailable, EasyHandle.canCallBeforeRequest, EasyHandle.canDetour
        else {
            return "libcurl was not found, or is older than 7.80"
        }
        guard TaskQueue.isAvailable else { return "the queue of URLSession's tasks was not found" }
        return EasyHandle.isDebugged ? "URLSessionDebugLibcurl is in the environment" : nil
    }

    /// Returns the limits of capture, a sentence each.
    static func limits(findsLibcurl: Bool, findsHandle: Bool, callsBeforeRequest: Bool) -> [String] {
        guard findsLibcurl else {
            return [
                "libcurl was not found: requests have no phases and no sizes and send no trace headers"
            ]
        }
        guard findsHandle else {
            return ["libcurl's handle was not found: requests have no phases and send no trace headers"]
        }
        return callsBeforeRequest ? [] : ["libcurl is older than 7.80: requests send no trace headers"]
    }

    private static func automatic(_ install: () throws(AutomaticCapture.Failure) -> Void) -> EffectiveCapture {
        do {
            try install()
            return EffectiveCapture(mode: .automatic, missingHooks: { AutomaticCapture.missingHooks })
        } catch {
            return EffectiveCapture(
                mode: .explicit,
                reason: "\(error.rawValue); call captureWithMartlet() on the configuration of each session")
        }
    }
    #endif
}
