import Foundation
import Testing

@testable import Martlet

/// The rules that apply to the first request of a process.
@Suite struct RulesAtStartTests {
    private static var drill: MartletRule {
        var rule = MartletRule(name: "drill", match: .init(path: "/hello/*"))
        rule.block = true
        return rule
    }

    /// Returns the number of rules that apply before an agent's thread has started.
    private func rules(
        _ rules: [MartletRule], file: URL? = nil, capture: EffectiveCapture = EffectiveCapture(mode: .automatic)
    ) -> Int {
        var configuration = MartletConfiguration()
        configuration.rules = rules
        configuration.rulesFile = file
        return AgentCore(configuration) { _ in capture }.recorder.rules.count
    }

    @Test func configuredRulesApplyBeforeTheThreadStarts() {
        #expect(rules([Self.drill]) == 1)
    }

    @Test func configuredRulesDoNotApplyIfInvalidOrWithAFileOrWithoutSupport() {
        #expect(rules([Self.drill, MartletRule(match: .init())]) == 0)
        #expect(rules([Self.drill], file: URL(fileURLWithPath: "/dev/null/rules.json5")) == 0)
        #expect(rules([Self.drill], capture: EffectiveCapture(mode: .automatic, rulesLimit: "no libcurl")) == 0)
        #expect(rules([Self.drill], capture: EffectiveCapture(mode: .off)) == 0)
    }

    @Test func forkedChildStartsWithTheLatestRulesOfItsParent() throws {
        let parent = ActiveRules()
        #expect(ActiveRules(forkedFrom: parent).count == 0)
        parent.replace(by: try RuleSet([Self.drill, Self.drill]))
        parent.replace(by: try RuleSet([Self.drill]))
        let child = ActiveRules(forkedFrom: parent)
        #expect(child.count == 1)
        parent.replace(by: RuleSet())
        let url = try #require(URL(string: "http://a.test/hello/x"))
        let decision = child.decision(for: RequestTarget(url), method: "GET") { _ in nil }
        #expect(decision?.name == "drill")
        #expect(ActiveRules(forkedFrom: parent).count == 0)
    }
}
