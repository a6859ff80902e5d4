import MartletTelemetry

/// Holds the agent to its budget, from its own thread: measures, judges, and carries out the judgement.
struct BudgetWatch {
    private let recorder: Recorder
    private let shipper: Shipper
    private let log: AgentLog
    private var budget: AgentBudget
    private var wasOn = true

    init(_ configuration: MartletConfiguration, recorder: Recorder, shipper: Shipper, log: AgentLog) {
        self.recorder = recorder
        self.shipper = shipper
        self.log = log
        budget = AgentBudget(
            maxCPU: configuration.maxCPU, maxMemory: configuration.maxMemory, window: configuration.budgetWindow,
            start: Self.cost(of: recorder, shipper))
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
        budget.restart(at: Self.cost(of: recorder, shipper))
        recorder.refuseDetails(because: nil)
        log.again(.details, "Details of requests are kept again")
        log.again(.off, "Capture is on again")
    }

    private mutating func judge() {
        let before = budget.allowance
        budget.judge(Self.cost(of: recorder, shipper))
        guard budget.allowance != before else { return }
        let reason = budget.reason ?? ""
        switch budget.allowance {
        case .everything:
            recorder.refuseDetails(because: nil)
            log.again(.details, "Details of requests are kept again")
        case .withoutDetails:
            recorder.refuseDetails(because: "no details are kept: \(reason)")
            log.once(.details, "No details of requests are kept: \(reason)")
        case .nothing: Capture.switchOff(because: reason)
        }
    }

    private static func cost(of recorder: Recorder, _ shipper: Shipper) -> AgentBudget.Cost {
        AgentBudget.Cost(
            time: Clock.monotonic(), cpuNanoseconds: Clock.threadCPU() &+ AgentCost.nanoseconds,
            memoryBytes: AgentMemory.bytes(recorder, shipper.status))
    }
}
