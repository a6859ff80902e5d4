import Foundation

/// Keeps an agent's rules as its configuration and its file say, and tells the log of them. A mistake puts no rule in force.
/// For one thread.
final class RulesWatch {
    private let active: ActiveRules
    private let given: [MartletRule]
    private let limit: String?
    private let path: String?
    private let log: AgentLog
    private var file: RulesFile?
    /// Whether the log's last line about rules holds until another one: rules in force, or a mistake. A forked child's parent
    /// has told of the rules that the child begins with.
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

    /// Puts the rules of the configuration in force ahead of the first request, unless a file takes their place. It logs
    /// nothing, because its caller holds a lock, and reads no file; ``start()`` does both.
    static func prepare(_ configuration: MartletConfiguration, capture: EffectiveCapture, active: ActiveRules) {
        guard configuration.rulesFile == nil,
            let set = try? checked(configuration.rules, limit: limit(of: capture))
        else { return }
        active.replace(by: set)
    }

    /// Puts the rules of the file in force, or else those of the configuration.
    func start() {
        if file == nil, !given.isEmpty { use(.success(given)) } else { _ = check() }
    }

    /// Reads the file if it has changed. Returns whether it has changed since the last call.
    func check() -> Bool {
        look()
        defer { hasChanged = false }
        return hasChanged
    }

    /// Reads the file if it has changed, and leaves the news of it to ``check()``.
    func look() {
        guard let result = file?.readIfChanged() else { return }
        use(result)
        hasChanged = true
    }

    // MARK: -

    private static func limit(of capture: EffectiveCapture) -> String? {
        capture.mode == .off ? capture.reason ?? "capture is off" : capture.rulesLimit
    }

    private static func checked(_ rules: [MartletRule], limit: String?) throws(RuleMistake) -> RuleSet {
        if let limit, !rules.isEmpty { throw RuleMistake(place: "", "rules cannot change requests here: \(limit)") }
        return try RuleSet(rules)
    }

    private func use(_ rules: Result<[MartletRule], RuleMistake>) {
        let source = path.map { "\($0.printable(upTo: 300)): " } ?? ""
        do throws(RuleMistake) {
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
