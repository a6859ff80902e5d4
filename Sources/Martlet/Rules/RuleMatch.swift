/// The requests that a rule is for, in a form that is compared quickly. A pure value.
struct RuleMatch: Sendable {
    private static let slash = UInt8(ascii: "/")

    private let host: Glob?
    private let port: Int?
    private let path: EndpointTemplate?
    private let method: String?
    private let header: [(name: String, value: Glob)]
    let share: Double

    /// - Parameter rule: the rule's number, for a mistake.
    init(_ match: MartletRule.Match, ofRule rule: Int) throws(RuleMistake) {
        func check(_ isValid: Bool, _ key: String, _ reason: String) throws(RuleMistake) {
            guard isValid else { throw RuleMistake(rule: rule, key: "match.\(key)", reason) }
        }
        if let host = match.host {
            try check(
                !host.isEmpty && EnvironmentValue.isGlob(host) && !host.contains("/"), "host",
                "\"\(host)\" is not a host; a port and a path have keys of their own")
        }
        try check(match.port.map((1...65535).contains) ?? true, "port", "not a port")
        if let path = match.path {
            try check(
                EndpointTemplate(path) != nil, "path", "\"\(path)\" is not a path template, such as /users/{id}")
        }
        try check(match.method.map(HeaderName.isValid) ?? true, "method", "not a method")
        for name in match.header.keys.sorted() {
            try check(HeaderName.isValid(name), "header.\(name)", "not a name of a header field")
        }
        try check(match.share > 0 && match.share <= 1, "share", "not more than 0 and at most 1")
        host = match.host.map { Glob($0.lowercased()) }
        port = match.port
        path = match.path.flatMap(EndpointTemplate.init)
        method = match.method?.uppercased()
        header = match.header.sorted { $0.key < $1.key }.map { ($0.key, Glob($0.value)) }
        share = match.share
    }

    /// Returns whether all parts but the share hold.
    ///
    /// - Parameter field: looks a header field of the request up by its name.
    func holds(for target: RequestTarget, method: String, field: (String) -> String?) -> Bool {
        guard self.method.map({ $0 == method.uppercased() }) ?? true, port.map({ $0 == target.port }) ?? true,
            host?.matches(target.host) ?? true
        else { return false }
        guard matches(path: target.path) else { return false }
        return header.allSatisfy { name, value in field(name).map(value.matches) ?? false }
    }

    private func matches(path text: String) -> Bool {
        guard let path else { return true }
        let bytes = Array(text.utf8)
        return path.matches(
            bytes.dropFirst(bytes.first == Self.slash ? 1 : 0)
                .split(separator: Self.slash, omittingEmptySubsequences: false))
    }
}
