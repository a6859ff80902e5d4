#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLSessionConfiguration {
    /// Lets Martlet capture the requests of sessions made with this configuration where it does not capture every session
    /// (`MARTLET_CAPTURE=explicit`, or a failed check at start; see `status.captureMode`).
    ///
    /// A service can always call it: it has no effect in automatic mode, and none on a Mac, where Martlet captures nothing.
    /// Call it before making the session, because a session copies its configuration. Martlet passes requests on to the
    /// session's own loader unchanged. `URLSession` asks protocols of the service's own before Martlet, as it asks them
    /// before that loader. Not thread-safe, like the configuration itself.
    public func captureWithMartlet() {
        #if os(Linux)
        var classes = protocolClasses ?? []
        guard !classes.contains(where: { $0 == ObservedProtocol.self }) else { return }
        let native = classes.firstIndex { $0 == NativeLoader.type } ?? classes.endIndex
        classes.insert(ObservedProtocol.self, at: native)
        protocolClasses = classes
        #endif
    }
}
