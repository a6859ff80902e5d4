import ArgumentParser

/// The form of an answer that is a table for a person, or a value for a program.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
    case table
    case json
}

/// The form of a report.
enum ReportFormat: String, ExpressibleByArgument, CaseIterable {
    case table
    case json
    case csv
    case markdown
}
