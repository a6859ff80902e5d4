import MartletStorage

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
