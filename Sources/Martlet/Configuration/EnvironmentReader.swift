/// Looks variables up in a passed environment and keeps a warning for each value that cannot be used.
struct EnvironmentReader {
    private let environment: [String: String]
    private(set) var warnings: [String] = []
    private(set) var known: Set<String> = []

    init(_ environment: [String: String]) {
        self.environment = environment
    }

    /// Returns the variable's text; `nil` if it is unset or empty.
    mutating func text(_ variable: String) -> String? {
        known.insert(variable)
        return environment[variable].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the variable's value; `nil` if it is unset, and `nil` with a warning that names the default if it cannot be
    /// read.
    mutating func value<T>(
        _ variable: String, default fallback: String, secret: Bool = false, as read: (String) -> T?
    ) -> T? {
        guard let text = text(variable) else { return nil }
        if let value = read(text) { return value }
        warnings.append("\(variable)=\(shown(text, secret: secret)) cannot be read; using the default, \(fallback)")
        return nil
    }

    /// Returns those of a variable's comma-separated items that can be read, with a warning about the others; `nil` if it is
    /// unset, and `nil` with a warning that names the default if none can be read.
    ///
    /// - Parameter noun: the plural for the items. The warning about secret ones tells their positions.
    mutating func readable<T>(
        _ variable: String, of noun: String, default fallback: String, secret: Bool = false, as read: (String) -> T?
    ) -> [T]? {
        guard let items = text(variable).flatMap({ EnvironmentValue.list($0) { _ in true } }) else { return nil }
        let values = items.map { (text: $0, value: read($0)) }
        if values.allSatisfy({ $0.value == nil }) {
            return value(variable, default: fallback, secret: secret) { _ in nil }
        }
        let unread = values.enumerated().filter { $0.element.value == nil }
            .map { secret ? "item \($0.offset + 1)" : shown($0.element.text, secret: false) }.joined(separator: ", ")
        if !unread.isEmpty { warnings.append("\(variable): \(unread) cannot be read; using the other \(noun)") }
        return values.compactMap(\.value)
    }

    /// Returns those of a variable's path templates that can name an endpoint, with one warning that names each other one and the
    /// reason; `nil` if the variable is unset.
    mutating func templates(_ variable: String) -> [String]? {
        guard let items = text(variable).flatMap({ EnvironmentValue.list($0) { _ in true } }) else { return nil }
        var (templates, faults) = ([EndpointTemplate](), [String]())
        for item in items {
            do throws(EndpointTemplate.Mistake) {
                templates.append(try EndpointTemplate(reading: item, after: templates))
            } catch {
                // A query may have a secret.
                faults.append("\(shown(String(item.prefix { $0 != "?" }), secret: false)) (\(error.reason))")
            }
        }
        if !faults.isEmpty {
            let rest = templates.isEmpty ? "default, none" : "other templates"
            warnings.append("\(variable)=\(faults.joined(separator: ", ")) can never match; using the \(rest)")
        }
        return templates.map(\.name)
    }

    /// Adds a warning for each variable that looks like Martlet's and is not: most likely a misspelling.
    mutating func warnAboutUnknown(prefix: String, except other: String) {
        for variable in environment.keys.sorted()
        where variable.hasPrefix(prefix) && !variable.hasPrefix(other) && !known.contains(variable) {
            warnings.append("\(variable) is not a variable of Martlet; check its spelling")
        }
    }

    /// Returns the text for a warning: printable, short, and hidden if it may be a URL with a credential.
    private func shown(_ text: String, secret: Bool) -> String {
        secret || text.utf8.contains { "@?".utf8.contains($0) } ? "(hidden)" : "\"\(text.printable(upTo: 100))\""
    }
}
