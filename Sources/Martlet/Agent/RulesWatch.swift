import Foundation

/// Loads the rules from the configuration and the rules file, reloads the file when it changes, and logs the result. If
/// a rule is invalid, none apply. Not thread-safe.
final class RulesWatch {
    private let active: ActiveRules
    private let given: [MartletRule]
    private let limit: String?
    private let path: String?
    private let log: AgentLog
    private var file: RulesFile?
    /// Whether the last log line reported rules in force or an error in them. If so, the end of that state is logged
    /// too. In a forked child it starts as `true` if the parent had rules: the parent has logged them.
    private var hasWarned: Bool
    private var hasChanged = false

    init(
        _ configuration: MartletConfiguration, capture: EffectiveCapture, active: ActiveRules, log: AgentLog
    ) {
        self.active = active
        self.log = log
        given = configuration.rules
        path = configuration.rulesFile?.path
        file = configuration.rulesFile.map(RulesFile.init)
        limit = Self.limit(of: capture)
        hasWarned = active.count > 0
    }

    /// Applies the rules of the configuration before the first request, unless there is a rules file. Neither logs nor
    /// reads the file, because its caller holds a lock; ``start()`` does both.
    static func prepare(_ configuration: MartletConfiguration, capture: EffectiveCapture, active: ActiveRules) {
        guard configuration.rulesFile == nil,
            let set = try? checked(configuration.rules, limit: limit(of: capture))
        else { return }
        active.replace(by: set)
    }

    /// Applies the rules of the file or, without a file, those of the configuration.
    func start() {
        if file == nil, !given.isEmpty { use(.success(given)) } else { _ = reloadAndReport() }
    }

    /// Reloads the file if it has changed. Returns whether it has changed since the last call.
    func reloadAndReport() -> Bool {
        reload()
        defer { hasChanged = false }
        return hasChanged
    }

    /// Reloads the file if it has changed. The next ``reloadAndReport()`` reports the change.
    func reload() {
        guard let result = file?.readIfChanged() else { return }
        use(result)
        hasChanged = true
    }

    // MARK: -

    private static func limit(of capture: EffectiveCapture) -> String? {
        capture.mode == .off ? capture.reason ?? "capture is off" : capture.rulesLimit
    }

    private static func checked(_ rules: [MartletRule], limit: String?) throws(RuleError) -> RuleSet {
        if let limit, !rules.isEmpty { throw RuleError(place: "", "rules cannot change requests here: \(limit)") }
        return try RuleSet(rules)
    }

    private func use(_ rules: Result<[MartletRule], RuleError>) {
        let source = path.map { "\($0.printable(upTo: 300)): " } ?? ""
        do throws(RuleError) {
            let set = try Self.checked(rules.get(), limit: limit)
            active.replace(by: set)
            if set.count > 0 {
                let names = set.names.joined(separator: ", ").printable(upTo: 300)
                log.warning("Rules: \(source)\(set.count) in force, which change requests of this service: \(names)")
            } else if hasWarned {
                log.warning("Rules: \(source)no rule is in force any more")
            }
            hasWarned = set.count > 0
        } catch {
            active.replace(by: RuleSet())
            hasWarned = true
            log.warning("Rules: \(source)\(error); no rule is in force")
        }
    }
}
