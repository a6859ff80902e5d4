import ArgumentParser
import Foundation

/// The variables `MARTLET_COLLECTOR_…`: one for each flag of `serve`, and one for each flag that says how a command reaches a
/// collector. Their names and types come from the declarations of the flags. An empty variable counts as unset.
struct CollectorEnvironment {
    private static let prefix = "MARTLET_COLLECTOR_"

    private let variables: [String: String]

    init(_ variables: [String: String] = ProcessInfo.processInfo.environment) {
        self.variables = variables
    }

    /// Returns the names of a command's flags, such as `admin-port`, with the property wrappers that declare them.
    static func flags(of command: some ParsableArguments) -> [(name: String, wrapper: Any)] {
        Mirror(reflecting: command).children.compactMap { label, wrapper in
            label.map { ($0.dropFirst().map { $0.isUppercase ? "-\($0.lowercased())" : "\($0)" }.joined(), wrapper) }
        }
    }

    /// Returns the name of a flag's variable.
    static func variable(_ flag: some StringProtocol) -> String {
        prefix + flag.uppercased().replacing("-", with: "_")
    }

    /// The variables that have the prefix but that nothing reads, such as misspelled ones.
    var unknown: [String] {
        let known = (Self.flags(of: Serve()) + Self.flags(of: ClientTLS())).map { Self.variable($0.name) }
        return variables.keys.filter { $0.hasPrefix(Self.prefix) && !known.contains($0) }.sorted()
    }

    subscript(_ flag: some StringProtocol) -> String? {
        variables[Self.variable(flag)].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the flag's value if it was given, otherwise the variable's.
    func value(_ text: String?, _ flag: String) throws -> String? {
        try Self.refuseEmpty(text, flag)
        return text ?? self[flag]
    }

    /// Returns the values of a flag that may be repeated, otherwise those of the variable, separated by commas.
    func values(_ texts: [String], _ flag: String) -> [String] {
        guard texts.isEmpty else { return texts }
        let parts = (self[flag] ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        return parts.filter { !$0.isEmpty }
    }

    /// Refuses an empty flag, because it usually comes from a forgotten shell variable.
    static func refuseEmpty(_ text: String?, _ flag: String) throws {
        guard text != "" else { throw ValidationError("--\(flag) must not be empty") }
    }

    /// Returns the variables of `serve` as flags, such as `--port=4318`, except those whose flags are in `arguments`.
    func serveFlags(besides arguments: ArraySlice<String> = []) throws -> [String] {
        try Self.flags(of: Serve()).flatMap { flag, wrapper -> [String] in
            guard let text = self[flag], !Self.isGiven(flag, in: arguments) else { return [] }
            switch wrapper {
            case is Flag<Bool>:
                guard let isSet = Self.booleans[text.lowercased()] else {
                    throw ValidationError("\(Self.variable(flag)) must be true or false")
                }
                return isSet ? ["--\(flag)"] : []
            case is Option<[String]>:
                return values([], flag).map { "--\(flag)=\($0)" }
            case is Option<Int>, is Option<Int?>:
                guard Int(text) != nil else {
                    throw ValidationError("\(Self.variable(flag)) must be a whole number")
                }
                fallthrough
            default: return ["--\(flag)=\(text)"]
            }
        }
    }

    private static let booleans = [
        "true": true, "1": true, "yes": true, "on": true, "false": false, "0": false, "no": false, "off": false,
    ]

    private static func isGiven(_ flag: some StringProtocol, in arguments: ArraySlice<String>) -> Bool {
        arguments.contains { $0 == "--\(flag)" || $0.hasPrefix("--\(flag)=") }
    }

    /// Returns `text`, a sentence that begins with a flag. If the value came from the flag's variable, replaces the flag with
    /// the variable's name.
    func sentence(_ text: String, besides arguments: ArraySlice<String>) -> String {
        let flag = text.prefix { $0 != " " }.dropFirst(2)
        guard text.hasPrefix("--"), self[flag] != nil, !Self.isGiven(flag, in: arguments) else { return text }
        return Self.variable(flag) + text.dropFirst(flag.count + 2)
    }
}
