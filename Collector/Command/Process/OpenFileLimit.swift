#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The number of files that the process may have open. Each connection is one.
enum OpenFileLimit {
    /// Files that are no connections: the store with its log and readers, the event loops, the log.
    private static let others = 256

    /// Raises the limit as far as the process may without rights of its own, and returns the connections that fit into it;
    /// `nil` if the system does not tell.
    static func connectionsAfterRaising() -> Int? {
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return nil }
        var raised = rlimit(rlim_cur: limit.rlim_max, rlim_max: limit.rlim_max)
        if setrlimit(resource, &raised) == 0 { limit = raised }
        return max(1, Int(clamping: limit.rlim_cur) - others)
    }
}
