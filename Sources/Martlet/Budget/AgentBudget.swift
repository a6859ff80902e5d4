import MartletTelemetry

/// Decides which work the agent gives up while it costs its service too much, and when it resumes that work: one step
/// at a time. A pure value.
struct AgentBudget: Sendable {
    /// Resources that the agent and its service have used.
    struct Cost: Equatable {
        /// Nanoseconds of the monotonic clock.
        var time: UInt64
        /// CPU time since the agent's start, in nanoseconds.
        var agentCPU: UInt64
        /// CPU time of the whole process, in nanoseconds.
        var processCPU: UInt64
        /// Bytes that the agent holds now, or the most that it held since the last judgement.
        var memoryBytes: Int
    }

    private let maxCPU: Double
    private let maxMemory: Int
    private let terms: BudgetTerms
    private var periodStart: Cost
    /// The pauses of all steps, in the order of the steps.
    private var pauses: [StepPause]
    /// The time of the last step taken because of memory, in nanoseconds of the monotonic clock; `nil` before the
    /// first.
    private var memoryStep: UInt64?
    /// The time since which counting has cost far too much, with all other work given up; `nil` while it does not.
    private var costlySince: UInt64?
    private(set) var allowance = Allowance.everything
    /// The figures of the last judgement, in words.
    private(set) var figures = ""

    init(maxCPU: Double, maxMemory: Int, terms: BudgetTerms = BudgetTerms(), start: Cost) {
        self.maxCPU = maxCPU
        self.maxMemory = maxMemory
        self.terms = terms
        periodStart = start
        pauses = Allowance.allCases.dropFirst().map { _ in StepPause(terms) }
    }

    /// The pause of the last step that was given up; `nil` if no step is given up.
    var pause: StepPause? { allowance == .everything ? nil : pauses[Int(allowance.rawValue) - 1] }

    /// Judges CPU time once a period, and memory at every call. After a step because of memory, memory is not judged
    /// for a period: a step takes time to have an effect, even if flushes are frequent.
    mutating func judge(_ cost: Cost) {
        let period = terms.period.nanoseconds
        let isPeriodOver = cost.time - min(cost.time, periodStart.time) >= period
        if cost.memoryBytes > maxMemory {
            if let memoryStep, cost.time - min(cost.time, memoryStep) < period { return }
            memoryStep = cost.time
            figures = "\(cost.memoryBytes) bytes of memory exceed MARTLET_MAX_MEMORY (\(maxMemory))"
            giveUp(at: cost, because: "the agent's memory exceeds MARTLET_MAX_MEMORY")
        } else if isPeriodOver {
            judgePeriod(until: cost)
        }
    }

    /// Allows everything again, and forgets all earlier judgements.
    mutating func restart(at cost: Cost) {
        self = AgentBudget(maxCPU: maxCPU, maxMemory: maxMemory, terms: terms, start: cost)
    }

    // MARK: -

    private mutating func judgePeriod(until cost: Cost) {
        let use = CPUUse(from: periodStart, to: cost)
        let excess = use.agent / max(1, maxCPU * use.process, terms.freeCore * use.elapsed)
        figures = "\(use) \(excess > 1 ? "exceeds" : "is within") MARTLET_MAX_CPU (\(Self.percent(maxCPU)))"
        if isTooMuch(excess, at: cost) {
            giveUp(at: cost, because: "the agent's CPU time exceeds MARTLET_MAX_CPU")
        } else if excess <= 1 || allowance == .nothing, pause?.isOver(at: cost.time) == true {
            takeBack(at: cost)
        }
        periodStart = cost
    }

    /// Returns whether to give up a step. Counting is given up only after it has cost four times the budget for a
    /// minute.
    private mutating func isTooMuch(_ excess: Double, at cost: Cost) -> Bool {
        guard allowance == .countsOnly, excess > MartletLimits.costlyExcess else {
            costlySince = nil
            return allowance.traces && excess > 1
        }
        let since = costlySince ?? periodStart.time
        costlySince = since
        return cost.time - min(cost.time, since) >= terms.costlyTime.nanoseconds
    }

    private mutating func giveUp(at cost: Cost, because reason: String) {
        periodStart = cost
        costlySince = nil
        guard let less = allowance.less else { return }
        pauses[Int(allowance.rawValue)].begin(at: cost.time, because: reason)
        allowance = less
    }

    private mutating func takeBack(at cost: Cost) {
        guard let more = allowance.more else { return }
        pauses[Int(more.rawValue)].noteReturn(at: cost.time)
        allowance = more
    }

    fileprivate static func percent(_ share: Double) -> String { "\((share * 10_000).rounded() / 100) %" }

    /// The CPU time between two costs, in nanoseconds. If a counter decreased, the CPU time counts as 0.
    private struct CPUUse: CustomStringConvertible {
        let agent: Double
        let process: Double
        let elapsed: Double

        init(from start: Cost, to end: Cost) {
            agent = Self.difference(start.agentCPU, end.agentCPU)
            process = Self.difference(start.processCPU, end.processCPU)
            elapsed = Self.difference(start.time, end.time)
        }

        private static func difference(_ start: UInt64, _ end: UInt64) -> Double { Double(end - min(start, end)) }

        var description: String {
            let (share, core) = (agent / max(1, process), agent / max(1, elapsed))
            return "\(AgentBudget.percent(share)) of the process's CPU time (\(AgentBudget.percent(core)) of a core)"
        }
    }
}

/// The pause before a step that was given up is tried again. It doubles each time the step has to be given up again
/// soon afterwards. A pure value; times are nanoseconds of the monotonic clock.
struct StepPause: Sendable {
    private let terms: BudgetTerms
    private(set) var length: Duration
    private var end: UInt64 = 0
    private var lastReturn: UInt64?
    /// Why the step was given up, without figures: other programs than Martlet's collector start new streams for each new
    /// text of a resource.
    private(set) var reason = ""

    init(_ terms: BudgetTerms) {
        self.terms = terms
        length = terms.firstPause
    }

    mutating func begin(at time: UInt64, because reason: String) {
        let isSoon = lastReturn.map { time - min(time, $0) < terms.calmTime.nanoseconds } ?? false
        length = isSoon ? min(length * 2, terms.longestPause) : terms.firstPause
        end = time &+ length.nanoseconds
        self.reason = reason
    }

    func isOver(at time: UInt64) -> Bool { time >= end }

    mutating func noteReturn(at time: UInt64) { lastReturn = time }
}
