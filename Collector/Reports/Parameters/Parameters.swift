import MartletStorage
import MartletTelemetry

/// The named parameters of a command line or of a query.
package struct Parameters<Name: ParameterName>: Sendable {
    /// The parameters in the given order.
    package private(set) var values: [(name: Name, value: String)] = []

    /// The most parameters. A report with every filter and every dimension has fewer.
    private static var maxCount: Int { 64 }
    /// The most values of one parameter.
    private static var maxRepeats: Int { 16 }
    /// The most bytes of a parameter's value.
    private static var maxValueBytes: Int { 1024 }

    package init() {}

    package init(_ pairs: some Sequence<(String, String)>) throws(ParameterError) {
        for (name, value) in pairs {
            guard values.count < Self.maxCount else {
                throw ParameterError("there are more than \(Self.maxCount) parameters")
            }
            guard let name = Name(rawValue: name) else {
                throw ParameterError(
                    "unknown parameter; the parameters are \(Self.list(Name.allCases.map(\.rawValue)))")
            }
            guard value.utf8.count <= Self.maxValueBytes else {
                throw ParameterError("\(name.rawValue) has more than \(Self.maxValueBytes) bytes")
            }
            guard name.isRepeatable || self[name] == nil else {
                throw ParameterError("\(name.rawValue) must not be given more than once")
            }
            guard all(name).count < Self.maxRepeats else {
                throw ParameterError("\(name.rawValue) must not be given more than \(Self.maxRepeats) times")
            }
            values.append((name, value))
        }
    }

    package mutating func add(_ name: Name, _ value: String?) {
        if let value { values.append((name, value)) }
    }

    /// Adds filters. Throws if the query does not have one of them.
    package mutating func add(_ filters: [(dimension: Dimension, value: String)]) throws(ParameterError) {
        for (dimension, value) in filters { add(try Name.filter(dimension), value) }
    }

    /// The parameter's first value; `nil` if it was not given.
    package subscript(_ name: Name) -> String? {
        values.first { $0.name == name }?.value
    }

    /// All values of a parameter, in order.
    package func all(_ name: Name) -> [String] {
        values.filter { $0.name == name }.map(\.value)
    }

    /// The parameters as parameters of a query.
    package var query: [(String, String)] { values.map { ($0.name.rawValue, $0.value) } }

    /// The parameters as flags of a command.
    package var commandFlags: [CommandFlag] {
        values.map { name, value in CommandFlag(name.rawValue, name.isSwitch ? nil : value) }
    }

    /// - Parameter after: the beginning of a window, if the parameter is its end (``TimeExpression``).
    func time(
        _ name: Name, default text: String, now: UnixNanoseconds, after: UnixNanoseconds? = nil
    ) throws(ParameterError) -> UnixNanoseconds {
        guard let time = TimeExpression.parse(self[name] ?? text, now: now, after: after) else {
            throw ParameterError(
                """
                \(name.rawValue) must be a time, such as 2026-11-21T09:00:00Z, 14:00 or yesterday, or a length of time ago, such \
                as 90s or 1h
                """
            )
        }
        return time
    }

    package func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: Name
    ) throws(ParameterError) -> Choice? {
        guard let text = self[name] else { return nil }
        guard let choice = Choice(rawValue: text) else {
            throw ParameterError("\(name.rawValue) must be one of \(Self.list(Choice.allCases.map(\.rawValue)))")
        }
        return choice
    }

    /// Returns `false` for a parameter that was not given.
    package func flag(_ name: Name) throws(ParameterError) -> Bool {
        switch self[name] {
        case nil, "false"?: return false
        case "true"?, ""?: return true
        default: throw ParameterError("\(name.rawValue) must be true or false")
        }
    }

    /// Returns a number from 1 to `limit`; `nil` if the parameter was not given.
    package func number(_ name: Name, of things: String, upTo limit: Int = .max) throws(ParameterError) -> Int? {
        guard let text = self[name] else { return nil }
        guard let number = Int(text), (1...limit).contains(number) else {
            let end = limit == .max ? "1 or more" : "from 1 to \(limit)"
            throw ParameterError("\(name.rawValue) must be a number of \(things), \(end)")
        }
        return number
    }

    /// Returns a duration in nanoseconds; `nil` if the parameter was not given.
    package func length(_ name: Name) throws(ParameterError) -> UInt64? {
        guard let text = self[name] else { return nil }
        guard let length = TimeText.nanoseconds(text) else {
            throw ParameterError("\(name.rawValue) must be a length of time with its unit, such as 500ms, 1.5s or 1h")
        }
        return length
    }

    /// Returns the length of an answer's slots; `nil` if the parameter was not given.
    func step(_ name: Name) throws(ParameterError) -> UInt64? {
        guard let step = try length(name) else { return nil }
        guard step >= TrendStep.shortest else { throw ParameterError("\(name.rawValue) must be 10s or longer") }
        return step
    }

    /// Returns the filter values of all dimensions that the parameters name.
    package func filter() throws(ParameterError) -> RequestFilter {
        var filter = RequestFilter()
        for (name, value) in values {
            guard let dimension = name.filteredDimension else { continue }
            try Self.check(value, of: dimension)
            filter.select(dimension, value)
        }
        return filter
    }

    private static func check(_ value: String, of dimension: Dimension) throws(ParameterError) {
        switch dimension.values {
        case .kinds where RequestKind(rawValue: value) == nil:
            throw ParameterError(
                "\(dimension.rawValue) must be one of \(list(RequestKind.allCases.map(\.rawValue)))")
        case .statuses where StatusPattern(value) == nil:
            throw ParameterError("\(dimension.rawValue) must be a code such as 404, or a class from 1xx to 5xx")
        default: return
        }
    }

    static func list(_ names: [String]) -> String {
        names.joined(separator: ", ")
    }
}

extension Parameters where Name: RequestParameterName {
    /// Adds filters.
    package mutating func add(_ filters: [(dimension: Dimension, value: String)]) {
        for (dimension, value) in filters { add(Name(dimension), value) }
    }
}

extension Parameters where Name: WindowParameterName {
    /// The longest window, in days: twice the 400 days for which hours are kept by default. The cost of an answer grows with
    /// the data in its window.
    private static var longestDays: UInt64 { 800 }

    package func window(now: UnixNanoseconds) throws(ParameterError) -> TimeWindow {
        if self[.since] == nil, self[.until] != nil, let length = TimeText.nanoseconds(Name.defaultSince) {
            // A window given by its length has this length whenever it is queried.
            let to = try time(.until, default: "0s", now: now)
            return TimeWindow(from: to - min(to, length), to: to)
        }
        let from = try time(.since, default: Name.defaultSince, now: now)
        let to = try time(.until, default: "0s", now: now, after: from)
        guard from < to else { throw ParameterError("since must be before until") }
        guard to - from <= Self.longestDays * 86_400_000_000_000 else {
            throw ParameterError("since and until must be at most \(Self.longestDays) days apart")
        }
        let window = TimeWindow(from: from, to: to)
        return self[.until] == nil ? window.throughItsSecond : window
    }
}

extension TimeWindow {
    /// The window extended to the end of its last second. If its length is in whole seconds, the whole window is moved instead.
    /// Reports state their window in whole seconds. So all reports within one second are about the same requests, and so is a
    /// later report for the stated times.
    fileprivate var throughItsSecond: TimeWindow {
        let second: UInt64 = 1_000_000_000
        let rest = (second - to % second) % second
        return TimeWindow(from: length % second == 0 ? from + rest : from, to: to + rest)
    }
}

/// Why a flag cannot be understood, in a sentence for the person who gave it.
package struct ParameterError: Error, Equatable, CustomStringConvertible {
    /// The sentence. It begins with the name of the flag, if it is about one.
    package var description: String

    package init(_ description: String) {
        self.description = description
    }

    /// Whether the error is about the flag with this name.
    package func isAbout(_ name: String) -> Bool { description.hasPrefix(name + " ") }
}
