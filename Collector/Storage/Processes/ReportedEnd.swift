import MartletTelemetry

/// The end of a process as a store keeps it: of an ``InstanceEnd``, the innermost place and the endpoint of its requests.
package struct ReportedEnd: Sendable, Hashable {
    /// The process that ended.
    package var instance: String
    package var version: String?
    /// Its last sign of life.
    package var time: UnixNanoseconds
    package var cause: EndCause
    /// The name of the signal, such as `SIGILL`.
    package var signal: String?
    /// The innermost function and its place, as far as they are known.
    package var function: String?
    package var file: String?
    package var line: Int?
    /// The endpoint of the requests in flight, such as `GET /files/{name}`; `nil` if they were of several.
    package var endpoint: String?

    package init(
        instance: String, version: String? = nil, time: UnixNanoseconds, cause: EndCause, signal: String? = nil,
        function: String? = nil, file: String? = nil, line: Int? = nil, endpoint: String? = nil
    ) {
        (self.instance, self.version, self.time) = (instance, version, time)
        (self.cause, self.signal) = (cause, signal)
        (self.function, self.file, self.line, self.endpoint) = (function, file, line, endpoint)
    }
}

/// The end of a process in a store.
package struct StoredEnd: Sendable, Equatable {
    package var service: String
    package var environment: String?
    /// The instance that reported it.
    package var reporter: String
    package var end: ReportedEnd

    package init(service: String, environment: String?, reporter: String, end: ReportedEnd) {
        (self.service, self.environment, self.reporter, self.end) = (service, environment, reporter, end)
    }
}

extension ReportedEnd {
    /// Why the process ended, such as `SIGILL at main.swift:41`; `nil` if that is unknown.
    package var causeText: String? {
        switch cause {
        case .clean: "shut down"
        case .exit: "exited by itself"
        case .signal: (signal ?? "a signal") + place
        case .killed: "killed" + (signal.map { " by \($0)" } ?? "")
        case .outOfMemory: "out of memory"
        case .noTime: "killed before its shutdown was done"
        case .hostDown: "the host went down"
        case .unknown: nil
        }
    }

    /// The line or, without one, the function.
    private var place: String {
        if let file = file?.split(separator: "/").last { return " at \(file)" + (line.map { ":\($0)" } ?? "") }
        return function.map { " in \($0)" } ?? ""
    }
}
