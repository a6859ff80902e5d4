/// How an instance ended: its cause and, as far as they are known, the place in its code and the requests in flight.
package struct InstanceEnd: Sendable, Equatable {
    /// The instance that ended (`service.instance.id`).
    package var instance: String
    package var cause: EndCause
    /// When it ended: the time of a crash, else its last sign of life.
    package var time: UnixNanoseconds
    /// The name of the signal, such as `SIGILL`; `nil` unless the cause is ``EndCause/signal``.
    package var signal: String?
    /// The innermost places of the crash; empty if none is known.
    package var places: [CodePlace] = []
    /// The build id of the program in hexadecimal digits, if ``places`` are addresses in it; `nil` if they are functions.
    package var build: String?
    /// The requests in flight, by endpoint, those with the most first. The least frequent ones may be missing.
    package var requests: [Requests] = []
    /// The number of all requests in flight.
    package var inFlight = 0

    /// Requests in flight at one endpoint.
    package struct Requests: Sendable, Equatable {
        package var kind: RequestKind
        /// The method and the endpoint, separated by a space: `GET /files/{name}`.
        package var name: String
        package var count: Int

        package init(kind: RequestKind, name: String, count: Int) {
            (self.kind, self.name, self.count) = (kind, name, count)
        }
    }

    package init(instance: String, cause: EndCause, time: UnixNanoseconds) {
        (self.instance, self.cause, self.time) = (instance, cause, time)
    }
}

/// Why an instance ended. The raw value is the attribute `martlet.reason` on the wire.
package enum EndCause: String, Sendable, CaseIterable {
    /// The agent was shut down.
    case clean
    /// It called `exit()` or returned from `main`, and the agent was not shut down.
    case exit
    /// It crashed: a signal for its own fault, such as a trap, ended it.
    case signal
    /// It left no trace: SIGKILL, a signal that the service does not handle, such as SIGTERM, or `_exit()` ended it.
    case killed
    /// The kernel killed it because memory was short.
    case outOfMemory = "out_of_memory"
    /// It was asked to stop, and was killed before it had stopped.
    case noTime = "no_time"
    /// Its host restarted, or lost its power.
    case hostDown = "host_down"
    /// Its record cannot be read.
    case unknown
}

/// A place in the code of a program.
package struct CodePlace: Sendable, Equatable, CustomStringConvertible {
    /// The function's name, or the program's name and an address in it.
    package var function: String
    /// The last two parts of the source file's path; `nil` if the program has no debug information.
    package var file: String?
    /// The line in the file, from 1 on.
    package var line: Int?

    package init(function: String, file: String? = nil, line: Int? = nil) {
        (self.function, self.file, self.line) = (function, file, line)
    }

    /// `Files.read(_:) at App/Files.swift:41`, or only the function.
    package var description: String {
        guard let file, let line else { return function }
        return "\(function) at \(file):\(line)"
    }
}
