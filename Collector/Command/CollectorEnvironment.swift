import ArgumentParser
import Foundation

/// The variables `MARTLET_COLLECTOR_…`. An empty variable counts as unset.
struct CollectorEnvironment {
    private static let prefix = "MARTLET_COLLECTOR_"
    /// The names of all variables, without the prefix.
    private static let names: Set<String> = [
        "ADMIN_PORT", "ALLOWED_HOST", "CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY", "DETAILS", "HOST",
        "INGEST_TOKEN", "INGEST_TOKEN_FILE", "INSECURE", "LOG_FORMAT", "LOG_LEVEL", "MAX_CONNECTIONS",
        "MAX_CUMULATIVE_STREAMS", "MAX_DETAILS", "MAX_DETAILS_BYTES", "MAX_STORE", "PORT", "READ_TOKEN", "RETENTION",
        "STORE", "TLS_CERTIFICATE", "TLS_KEY",
    ]

    private let variables: [String: String]

    init(_ variables: [String: String]) {
        self.variables = variables
    }

    /// The variables with the prefix that nothing reads, such as misspelled ones.
    var unknown: [String] {
        variables.keys.filter {
            $0.hasPrefix(Self.prefix) && !Self.names.contains(String($0.dropFirst(Self.prefix.count)))
        }
        .sorted()
    }

    subscript(_ name: String) -> String? {
        variables[Self.prefix + name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the flag's value, or the variable's without the flag. An empty flag is refused, because it usually comes from a
    /// forgotten shell variable.
    func value(_ flag: String?, _ name: String) throws -> String? {
        guard flag != "" else {
            throw ValidationError("--\(name.lowercased().replacing("_", with: "-")) must not be empty")
        }
        return flag ?? self[name]
    }

    func integer(_ name: String) throws -> Int? {
        guard let text = self[name] else { return nil }
        guard let value = Int(text) else { throw ValidationError("\(Self.prefix)\(name) must be a whole number") }
        return value
    }

    /// Returns a sentence that begins with a flag. If the value comes from the variable, the variable's name replaces the flag.
    func sentence(_ text: String) -> String {
        let flag = String(text.prefix { $0 != " " })
        let name = flag.dropFirst(2).uppercased().replacing("-", with: "_")
        guard flag.hasPrefix("--"), self[name] != nil,
            !CommandLine.arguments.contains(where: { $0 == flag || $0.hasPrefix(flag + "=") })
        else { return text }
        return Self.prefix + name + String(text.dropFirst(flag.count))
    }

    /// Returns the parts between commas.
    func list(_ name: String) -> [String] {
        (self[name] ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    /// Returns `false` if the variable is unset.
    func boolean(_ name: String) throws -> Bool {
        switch self[name]?.lowercased() {
        case nil: false
        case "true", "1", "yes", "on": true
        case "false", "0", "no", "off": false
        default: throw ValidationError("\(Self.prefix)\(name) must be true or false")
        }
    }
}
