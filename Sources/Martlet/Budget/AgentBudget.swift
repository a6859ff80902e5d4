import MartletTelemetry

/// Decides what the agent gives up when it costs its service more than it may: details first, then capture. A pure value.
struct AgentBudget: Sendable {
    /// What is allowed, from most to least.
    enum Allowance: Equatable {
        case everything
        case withoutDetails
        case nothing
    }

    /// What the agent has used of its service.
    struct Cost: Equatable {
        /// By the monotonic clock.
        var time: UInt64
        /// CPU time since the agent's start.
        var cpuNanoseconds: UInt64
        /// Held at this moment.
        var memoryBytes: Int
    }

    private let maxCPU: Double
    private let maxMemory: Int
    private let window: UInt64
    private var windowStart: Cost
    private(set) var allowance = Allowance.everything
    /// Why it is not everything.
    private(set) var reason: String?

    init(maxCPU: Double, maxMemory: Int, window: Duration = MartletLimits.budgetWindow, start: Cost) {
        self.maxCPU = maxCPU
        self.maxMemory = maxMemory
        self.window = window.nanoseconds
        windowStart = start
    }

    /// CPU is judged by the window, memory at once. Details come back after a window at half the budget; whoever wants
    /// capture back has to switch it on.
    mutating func judge(_ cost: Cost) {
        let elapsed = cost.time &- windowStart.time
        let isOverMemory = cost.memoryBytes > maxMemory
        guard isOverMemory || elapsed >= window else { return }
        let share = Double(cost.cpuNanoseconds &- windowStart.cpuNanoseconds) / Double(max(1, elapsed))
        let isOverCPU = elapsed >= window && share > maxCPU
        windowStart = cost
        if isOverMemory {
            giveUp("\(cost.memoryBytes) bytes of memory are more than MARTLET_MAX_MEMORY, \(maxMemory)")
        } else if isOverCPU {
            giveUp("\(Self.percent(share)) of a core are more than MARTLET_MAX_CPU, \(Self.percent(maxCPU))")
        } else if allowance == .withoutDetails, share < maxCPU / 2, cost.memoryBytes < maxMemory / 2 {
            restart(at: cost)
        }
    }

    mutating func restart(at cost: Cost) {
        windowStart = cost
        allowance = .everything
        reason = nil
    }

    private mutating func giveUp(_ reason: String) {
        allowance = allowance == .everything ? .withoutDetails : .nothing
        self.reason = reason
    }

    private static func percent(_ share: Double) -> String {
        "\((share * 10_000).rounded() / 100) %"
    }
}
