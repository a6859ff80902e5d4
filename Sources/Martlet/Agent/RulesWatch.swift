import Foundation

/// Keeps an agent's rules as its configuration and its file say, and tells the log of them. A mistake puts no rule in force.
struct RulesWatch {
    private let active: ActiveRules
    private let given: [MartletRule]
    private let limit: String?
    private let path: String?
    private let log: AgentLog
    private var file: RulesFile?
    /// Whether the log's last line about rules holds until another one: rules in force, or a mistake.
    private var hasWarned = false

    init(
        _ configuration: MartletConfiguration, capture: EffectiveCapture, active: ActiveRules, log: AgentLog
    ) {
        self.active = active
        self.log = log
        given = configuration.rules
        path = configuration.rulesFile?.path
        file = configuration.rulesFile.map(RulesFile.init)
        limit = capture.mode == .off ? capture.reason ?? "capture is off" : capture.rulesLimit
    }

    /// Puts the rules of the configuration in force. Those of a file follow with ``check()``.
    mutating func start() {
        guard file == nil, !given.isEmpty else { return }
        use(.success(given))
    }

    /// Reads the file if it has changed. Returns whether it has.
    mutating func check() -> Bool {
        guard let result = file?.readIfChanged() else { return false }
        use(result)
        return true
    }

    private mutating func use(_ rules: Result<[MartletRule], RuleMistake>) {
        let source = path.map { "\($0.printable(upTo: 300)): " } ?? ""
        do throws(RuleMistake) {
            let rules = try rules.get()
            if let limit, !rules.isEmpty { throw RuleMistake(place: "", "rules cannot change requests here: \(limit)") }
            let set = try RuleSet(rules)
            active.replace(by: set)
            if set.count > 0 {
                let names = set.names.joined(separator: ", ").printable(upTo: 300)
                log.warning("Rules: \(source)\(set.count) in force, which change requests of this service: \(names)")
            } else if hasWarned {
                log.warning("Rules: \(source)none is in force any more")
            }
            hasWarned = set.count > 0
        } catch {
            active.replace(by: RuleSet())
            hasWarned = true
            log.warning("Rules: \(source)\(error); no rule is in force")
        }
    }
}
