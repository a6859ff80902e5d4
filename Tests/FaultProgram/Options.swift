import Foundation

/// The arguments of the command line.
struct Options {
    var server = URL(fileURLWithPath: "/")
    /// The name of this process among the processes of a test; part of its endpoints' names.
    var life = ""
    /// The folder in which the program notes the requests that have ended.
    var ended = URL(fileURLWithPath: "/")
    var workers = 4
    /// The number of requests of all workers together.
    var requests = 0
    var death: Death?
    /// How the process ends after its requests; `nil` for an end with a shutdown of the agent.
    var ending: Ending?
    /// The part of the process in which it ends.
    var place = Place.main
    /// The largest number of flushes at the end; the program stops flushing when no request waits.
    var flushes = 1
    /// The time that the agent's shutdown has, in seconds.
    var within = 5.0
    /// Whether the program makes requests within a service group until SIGTERM.
    var isLifecycle = false

    init?(_ arguments: some Sequence<String>) {
        var arguments = arguments.makeIterator()
        while let name = arguments.next() {
            if name == "--lifecycle" {
                isLifecycle = true
            } else {
                guard let value = arguments.next(), take(value, for: name) else { return nil }
            }
        }
        guard server.scheme == "http", !life.isEmpty else { return nil }
    }

    private mutating func take(_ value: String, for name: String) -> Bool {
        switch name {
        case "--server": URL(string: value).map { server = $0 } != nil
        case "--life": set(\.life, value)
        case "--ended": set(\.ended, URL(fileURLWithPath: value))
        case "--workers": set(\.workers, Int(value))
        case "--requests": set(\.requests, Int(value))
        case "--die": set(\.death, Death(value))
        case "--end": set(\.ending, Ending(rawValue: value))
        case "--in": set(\.place, Place(rawValue: value))
        case "--flushes": set(\.flushes, Int(value))
        case "--within": set(\.within, Double(value))
        default: false
        }
    }

    private mutating func set<Value>(_ property: WritableKeyPath<Options, Value>, _ value: Value?) -> Bool {
        guard let value else { return false }
        self[keyPath: property] = value
        return true
    }
}
