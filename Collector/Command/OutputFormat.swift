import ArgumentParser

/// The forms of a command's answer. One of them is a table for a person.
protocol AnswerFormat: ExpressibleByArgument, CaseIterable, Sendable {
    static var table: Self { get }
}

/// The form of an answer that is a table for a person, or a value for a program.
enum OutputFormat: String, AnswerFormat {
    case table
    case json
}

/// The form of a report, and of a list of requests.
enum ReportFormat: String, AnswerFormat {
    case table
    case json
    case csv
    case markdown
}

/// The form of one request.
enum RequestFormat: String, AnswerFormat {
    case table
    case json
    /// HTTP archive, which browsers and other tools open.
    case har
}
