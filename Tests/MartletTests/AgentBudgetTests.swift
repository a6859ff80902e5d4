import Testing

@testable import Martlet

@Suite struct AgentBudgetTests {
    private var budget = AgentBudget(maxCPU: 0.02, maxMemory: 1000, start: Self.cost(second: 0))

    @Test mutating func detailsGoFirstAndThenCapture() {
        budget.judge(Self.cost(second: 10, cpu: 0.3))
        #expect(budget.allowance == .withoutDetails)
        #expect(budget.reason == "3.0 % of a core are more than MARTLET_MAX_CPU, 2.0 %")
        budget.judge(Self.cost(second: 20, cpu: 0.6))
        #expect(budget.allowance == .nothing)
    }

    @Test mutating func aBurstWithinAWindowIsNoMatter() {
        budget.judge(Self.cost(second: 1, cpu: 0.19))
        #expect(budget.allowance == .everything)
        budget.judge(Self.cost(second: 10, cpu: 0.19))
        #expect(budget.allowance == .everything)
    }

    @Test mutating func detailsComeBackAfterAWindowAtHalfTheBudget() {
        budget.judge(Self.cost(second: 10, cpu: 0.3))
        budget.judge(Self.cost(second: 20, cpu: 0.45))
        #expect(budget.allowance == .withoutDetails)
        budget.judge(Self.cost(second: 30, cpu: 0.54))
        #expect(budget.allowance == .everything)
        #expect(budget.reason == nil)
    }

    @Test mutating func memoryIsJudgedAtOnce() {
        budget.judge(Self.cost(second: 0, memory: 1001))
        #expect(budget.allowance == .withoutDetails)
        budget.judge(Self.cost(second: 1, memory: 1001))
        #expect(budget.allowance == .nothing)
        #expect(budget.reason == "1001 bytes of memory are more than MARTLET_MAX_MEMORY, 1000")
    }

    private static func cost(second: UInt64, cpu: Double = 0, memory: Int = 0) -> AgentBudget.Cost {
        AgentBudget.Cost(
            time: second * 1_000_000_000, cpuNanoseconds: UInt64((cpu * 1e9).rounded()), memoryBytes: memory)
    }
}
