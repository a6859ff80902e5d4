import Testing

@testable import Martlet

/// Sequences of costs, and the steps that the agent has left after each. Unless a test says otherwise, the process uses
/// a whole core, so the budget of 5 % is 0.5 s in a period of 10 s.
@Suite struct AgentBudgetTests {
    private var budget = AgentBudget(maxCPU: 0.05, maxMemory: 1000, start: Cost())
    private var cost = Cost()

    private typealias Cost = AgentBudget.Cost

    @Test mutating func detailsAreGivenUpFirstThenPhasesTraceHeadersAndSpansTogether() {
        period(agent: 0.6)
        #expect(budget.allowance == .withoutDetails)
        period(agent: 0.6)
        #expect(budget.allowance == .countsOnly)
    }

    @Test mutating func countingContinuesBelowFourTimesTheBudget() {
        for _ in 0..<100 { period(agent: 1.9) }
        #expect(budget.allowance == .countsOnly)
    }

    @Test mutating func countingPausesAfterAMinuteAtFourTimesTheBudget() {
        for _ in 0..<2 { period(agent: 5) }
        for _ in 0..<5 {
            period(agent: 2.1)
            #expect(budget.allowance == .countsOnly)
        }
        period(agent: 2.1)
        #expect(budget.allowance == .nothing)
    }

    @Test mutating func periodBelowFourTimesTheBudgetRestartsTheMinute() {
        for _ in 0..<7 { period(agent: 2.1) }
        period(agent: 1.9)
        for _ in 0..<5 { period(agent: 2.1) }
        #expect(budget.allowance == .countsOnly)
        period(agent: 2.1)
        #expect(budget.allowance == .nothing)
    }

    @Test mutating func burstWithinAPeriodIsAllowed() {
        period(agent: 0.4, seconds: 1)
        period(agent: 0.05, seconds: 9)
        #expect(budget.allowance == .everything)
    }

    @Test mutating func onePercentOfACoreIsAlwaysAllowed() {
        for _ in 0..<10 { period(agent: 0.1, process: 0.1) }
        #expect(budget.allowance == .everything)
        period(agent: 0.11, process: 0.11)
        #expect(budget.allowance == .withoutDetails)
    }

    @Test mutating func agentMayUseItsShareOfAllCoresThatTheProcessUses() {
        period(agent: 1.9, process: 40)
        #expect(budget.allowance == .everything)
    }

    // MARK: Resuming

    @Test mutating func stepsResumeByThemselvesOneAfterTheOther() {
        for _ in 0..<2 { period(agent: 0.6) }
        period(agent: 0.4)
        #expect(budget.allowance == .withoutDetails)
        period(agent: 0.4)
        #expect(budget.allowance == .everything)
        #expect(budget.pause == nil)
    }

    @Test mutating func pausedCaptureResumesWithCountingOnly() {
        for _ in 0..<8 { period(agent: 2.1) }
        #expect(budget.allowance == .nothing)
        period(agent: 0)
        #expect(budget.allowance == .countsOnly)
        period(agent: 0)
        #expect(budget.allowance == .withoutDetails)
        period(agent: 0)
        #expect(budget.allowance == .everything)
    }

    @Test mutating func pausesDoubleIfAStepHasToBeGivenUpAgain() {
        var pauses: [Int64] = []
        for _ in 0..<400 {
            let before = budget.allowance
            period(agent: before == .everything ? 0.6 : 0.1)
            if before == .everything { pauses.append(budget.pause?.length.components.seconds ?? 0) }
        }
        #expect(pauses.prefix(9) == [10, 20, 40, 80, 160, 320, 600, 600, 600])
    }

    @Test mutating func pauseLastsForItsStatedLength() {
        period(agent: 0.6)
        period(agent: 0.1)
        period(agent: 0.6)
        #expect(budget.allowance == .withoutDetails)
        period(agent: 0.1)
        #expect(budget.allowance == .withoutDetails)
        period(agent: 0.1)
        #expect(budget.allowance == .everything)
    }

    @Test mutating func pauseIsShortAgainAfterACalmTime() {
        for _ in 0..<3 {
            period(agent: 0.6)
            while budget.allowance != .everything { period(agent: 0.1) }
        }
        for _ in 0..<60 { period(agent: 0.1) }
        period(agent: 0.6)
        #expect(budget.pause?.length == .seconds(10))
    }

    @Test mutating func switchingCaptureOnRestoresAllSteps() {
        for _ in 0..<8 { period(agent: 2.1) }
        budget.restart(at: cost)
        #expect(budget.allowance == .everything)
        period(agent: 0.6)
        #expect(budget.pause?.length == .seconds(10))
    }

    // MARK: Odd periods

    @Test mutating func suspendedProcessIsNotJudgedByTheTimeThatPassed() {
        period(agent: 0.4, process: 10, seconds: 3600)
        #expect(budget.allowance == .everything)
        period(agent: 0.6)
        #expect(budget.allowance == .withoutDetails)
    }

    @Test mutating func periodWithoutCPUTimeIsWithinTheBudget() {
        period(agent: 0, process: 0)
        #expect(budget.allowance == .everything)
    }

    @Test mutating func decreasingCounterCountsAsNoCost() {
        period(agent: 0.4)
        cost.agentCPU = 0
        cost.processCPU = 0
        period(agent: 0, process: 0)
        #expect(budget.allowance == .everything)
    }

    // MARK: Memory

    @Test mutating func memoryIsJudgedImmediatelyAndOneStepAtATime() {
        for expected in [Allowance.withoutDetails, .countsOnly, .nothing, .nothing] {
            period(agent: 0, memory: 1001)
            // A second later is too soon for the next step.
            period(agent: 0, seconds: 1, memory: 1001)
            #expect(budget.allowance == expected)
        }
        #expect(budget.figures == "1001 bytes of memory exceed MARTLET_MAX_MEMORY (1000)")
        #expect(budget.pause?.reason == "the agent's memory exceeds MARTLET_MAX_MEMORY")
    }

    @Test mutating func stepsGivenUpForMemoryResumeWhenThereIsRoom() {
        for _ in 0..<3 { period(agent: 0, memory: 1001) }
        for expected in [Allowance.countsOnly, .withoutDetails, .everything] {
            period(agent: 0, memory: 1000)
            #expect(budget.allowance == expected)
        }
    }

    @Test mutating func figuresAreForTheLogAndNotInTheReason() {
        period(agent: 0.6)
        #expect(
            budget.figures == "6.0 % of the process's CPU time (6.0 % of a core) exceeds MARTLET_MAX_CPU (5.0 %)")
        #expect(budget.pause?.reason == "the agent's CPU time exceeds MARTLET_MAX_CPU")
    }

    /// - Parameters:
    ///   - agent: The agent's CPU seconds in the period.
    ///   - process: The CPU seconds of the whole process.
    private mutating func period(
        agent: Double, process: Double = 10, seconds: UInt64 = 10, memory: Int = 0
    ) {
        cost.time += seconds * 1_000_000_000
        cost.agentCPU += UInt64((agent * 1e9).rounded())
        cost.processCPU += UInt64((process * 1e9).rounded())
        cost.memoryBytes = memory
        budget.judge(cost)
    }
}

extension AgentBudget.Cost {
    fileprivate init() { self.init(time: 0, agentCPU: 0, processCPU: 0, memoryBytes: 0) }
}
