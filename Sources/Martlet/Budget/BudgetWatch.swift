import MartletTelemetry

/// Holds the agent to its budget, from its own thread: measures, judges, and carries out the judgement.
struct BudgetWatch {
    private let recorder: Recorder
    private let log: AgentLog
    private var budget: AgentBudget
    private var wasOn = true

    init(_ configuration: MartletConfiguration, recorder: Recorder, log: AgentLog) {
        self.recorder = recorder
        self.log = log
        budget = AgentBudget(
            maxCPU: configuration.maxCPU, maxMemory: configuration.maxMemory, start: Self.cost(of: recorder))
    }

    mutating func check() {
        let isOn = Capture.isOn.load(ordering: .relaxed)
        if isOn, !wasOn { restart() }
        if isOn { judge() }
        wasOn = Capture.isOn.load(ordering: .relaxed)
        if let reason = Capture.offReason { log.once(.off, "Capture is off: \(reason)") }
    }

    /// Somebody switched capture on again: with all that it may keep.
    private mutating func restart() {
        budget.restart(at: Self.cost(of: recorder))
        recorder.allowDetails(true)
        log.again(.details, "Details of requests are kept again")
        log.again(.off, "Capture is on again")
    }

    private mutating func judge() {
        let before = budget.allowance
        budget.judge(Self.cost(of: recorder))
        guard budget.allowance != before else { return }
        recorder.allowDetails(budget.allowance == .everything)
        switch budget.allowance {
        case .everything: log.again(.details, "Details of requests are kept again")
        case .withoutDetails: log.once(.details, "No details of requests are kept: \(budget.reason ?? "")")
        case .nothing: Capture.switchOff(because: budget.reason ?? "")
        }
    }

    private static func cost(of recorder: Recorder) -> AgentBudget.Cost {
        AgentBudget.Cost(
            time: Clock.monotonic(), cpuNanoseconds: Clock.threadCPU() &+ AgentCost.nanoseconds,
            memoryBytes: recorder.estimatedBytes)
    }
}
