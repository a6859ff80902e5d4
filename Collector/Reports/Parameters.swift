import MartletTelemetry

/// Flags by name, as a command line or a query gives them: one type for both.
package struct Parameters<Name: ParameterName>: Sendable {
    /// The parameters in the order in which they were given.
    package private(set) var values: [(name: Name, value: String)] = []

    /// Parameters at most; a report with every filter and every dimension has fewer.
    private static var maxCount: Int { 64 }
    /// Bytes of a parameter's value at most.
    private static var maxValueBytes: Int { 1024 }

    package init() {}

    package init(_ pairs: some Sequence<(String, String)>) throws(ParameterError) {
        for (name, value) in pairs {
            guard values.count < Self.maxCount else {
                throw ParameterError("there are more than \(Self.maxCount) parameters")
            }
            guard value.utf8.count <= Self.maxValueBytes else {
                throw ParameterError("a parameter has more than \(Self.maxValueBytes) bytes")
            }
            guard let name = Name(rawValue: name) else {
                throw ParameterError(
                    "unknown parameter; the parameters are \(Self.list(Name.allCases.map(\.rawValue)))")
            }
            guard name == Name.repeatable || self[name] == nil else {
                throw ParameterError("\(name.rawValue) must not be given more than once")
            }
            values.append((name, value))
        }
    }

    package mutating func add(_ name: Name, _ value: String?) {
        if let value { values.append((name, value)) }
    }

    /// The parameter's first value; `nil` if it was not given.
    subscript(_ name: Name) -> String? {
        values.first { $0.name == name }?.value
    }

    func time(_ name: Name, default text: String, now: UnixNanoseconds) throws(ParameterError) -> UnixNanoseconds {
        guard let time = TimeText.parse(self[name] ?? text, now: now) else {
            throw ParameterError(
                "\(name.rawValue) must be a time, such as 2026-11-21T09:00:00Z, or a length of time ago, such as 90s or 1h"
            )
        }
        return time
    }

    func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: Name
    ) throws(ParameterError) -> Choice? {
        guard let text = self[name] else { return nil }
        guard let choice = Choice(rawValue: text) else {
            throw ParameterError("\(name.rawValue) must be one of \(Self.list(Choice.allCases.map(\.rawValue)))")
        }
        return choice
    }

    static func list(_ names: [String]) -> String {
        names.joined(separator: ", ")
    }
}
