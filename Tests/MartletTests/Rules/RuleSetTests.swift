import Foundation
import Testing

@testable import Martlet

/// The rules that apply to a request.
@Suite struct RuleSetTests {
    @Test func firstMatchWithAnActionAppliesAndHeaderFieldsAddUp() throws {
        let rules = try RuleSet([
            Self.header("A"), Self.blocking(.init(host: "other.*")), Self.blocking(.init(), name: "first"),
            Self.header("B"), Self.blocking(.init(), name: "second"),
        ])
        let decision = try #require(Self.decide(rules, "http://api.example.com/"))
        #expect(decision.name == "first")
        #expect(decision.headers.map(\.name) == ["A", "B"])
    }

    @Test func ruleWithOnlyHeaderFieldsGivesItsName() throws {
        let decision = try #require(Self.decide(try RuleSet([Self.header("A"), Self.header("B")]), "http://a/"))
        #expect(decision.name == "1")
        #expect(decision.headers.map(\.name) == ["A", "B"])
    }

    @Test(arguments: [
        ("http://API.example.com:8080/pay/7?x=/", true), ("http://api.example.com/pay/7", false),
        ("http://api.example.com:8080/pay", false), ("http://api.example.com:8080/pay/7/8", false),
        ("http://api.example.org:8080/pay/7", false), ("http://user@api.example.com:8080/pay/7#f", true),
    ])
    func hostPortAndPathMustMatch(url: String, isMatch: Bool) throws {
        var match = MartletRule.Match(host: "*.Example.com", path: "/pay/{id}")
        match.port = 8080
        #expect((Self.decide(try RuleSet([Self.blocking(match)]), url) != nil) == isMatch)
    }

    @Test func methodAndHeaderFieldsMustMatch() throws {
        var match = MartletRule.Match(method: "post")
        match.header = ["X-Tenant": "acme-*"]
        let rules = try RuleSet([Self.blocking(match)])
        #expect(Self.decide(rules, "http://a/", "POST", ["X-Tenant": "acme-1"]) != nil)
        #expect(Self.decide(rules, "http://a/", "GET", ["X-Tenant": "acme-1"]) == nil)
        #expect(Self.decide(rules, "http://a/", "POST", ["X-Tenant": "other"]) == nil)
        #expect(Self.decide(rules, "http://a/", "POST") == nil)
    }

    @Test(arguments: [(0.0, true), (0.049, true), (0.05, false), (0.999, false)])
    func shareIsDecidedForEachRequest(number: Double, isMatch: Bool) throws {
        var match = MartletRule.Match()
        match.share = 0.05
        let rules = try RuleSet([Self.blocking(match)])
        let target = RequestTarget(host: "a", port: 80, path: "/")
        #expect((rules.decision(for: target, method: "GET", field: { _ in nil }, draw: { number }) != nil) == isMatch)
    }

    private static func blocking(_ match: MartletRule.Match, name: String? = nil) -> MartletRule {
        var rule = MartletRule(name: name, match: match)
        rule.block = true
        return rule
    }

    private static func header(_ name: String) -> MartletRule {
        var rule = MartletRule()
        rule.header = .init(set: [name: "1"])
        return rule
    }

    private static func decide(
        _ rules: RuleSet, _ url: String, _ method: String = "GET", _ fields: [String: String] = [:]
    ) -> RuleDecision? {
        guard let url = URL(string: url) else { return nil }
        return rules.decision(for: RequestTarget(url), method: method, field: { fields[$0] })
    }
}
