import Foundation
import FoundationNetworking
import Martlet

/// The arguments of the command line.
struct Options: Sendable {
    enum Mode: String {
        /// The agent is linked and never started.
        case bare
        case automatic, explicit
    }

    var server = ""
    var mode = Mode.automatic
    var requests = 1000
    var concurrency = 64
    /// The number of additional requests that are all in flight at once.
    var burst = 0
    var disturbance: Disturbance?

    /// `nil` if an argument cannot be read.
    init?(_ arguments: ArraySlice<String>) {
        var words = arguments.makeIterator()
        while let name = words.next() {
            guard let value = words.next(), read(name, value) else { return nil }
        }
        guard URL(string: server)?.host != nil else { return nil }
    }

    private mutating func read(_ name: String, _ value: String) -> Bool {
        switch name {
        case "--server": server = value
        case "--mode": return Mode(rawValue: value).map { mode = $0 } != nil
        case "--requests": return Int(value).map { requests = $0 } != nil
        case "--concurrency": return Int(value).map { concurrency = max(1, $0) } != nil
        case "--burst": return Int(value).map { burst = $0 } != nil
        case "--disturb": return Disturbance(rawValue: value).map { disturbance = $0 } != nil
        default: return false
        }
        return true
    }

    func url(_ path: String) -> URL { URL(string: "\(server)/\(path)") ?? URL(fileURLWithPath: "/") }

    /// A session as a service makes it, with as many connections as the service has callers.
    func session(_ delegate: (any URLSessionDelegate)? = nil, connections: Int? = nil) -> URLSession {
        let configuration = URLSessionConfiguration.default
        configuration.httpMaximumConnectionsPerHost = connections ?? concurrency
        if mode == .explicit { configuration.captureWithMartlet() }
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }
}
