import MartletTelemetry

/// Keeps the agent within its budget: measures its cost, judges it and applies the result. Runs on the agent's thread.
struct BudgetWatch {
    private let recorder: Recorder
    private let board: StatusBoard
    private let log: AgentLog
    private var budget: AgentBudget
    private var last = CaptureSwitchState.on
    private var switches = CaptureSwitch.switches.load(ordering: .relaxed)

    init(_ configuration: MartletConfiguration, recorder: Recorder, board: StatusBoard, log: AgentLog) {
        self.recorder = recorder
        self.board = board
        self.log = log
        budget = AgentBudget(
            maxCPU: configuration.maxCPU, maxMemory: configuration.maxMemory, terms: configuration.budgetTerms,
            start: Self.cost(board))
    }

    /// Whether capture was switched on or off since the last check.
    var hasSwitched: Bool { wasTurnedOn || CaptureSwitch.state.isOn != last.isOn }

    /// Whether capture was switched on since the last check, even if it was on before.
    private var wasTurnedOn: Bool { CaptureSwitch.switches.load(ordering: .relaxed) != switches }

    /// Judges the agent's cost and applies the result.
    ///
    /// - Returns: whether the agent's work was reduced or restored, or capture was switched. The collector should learn
    ///   of these changes soon.
    mutating func check() -> Bool {
        let (before, hasSwitched, wasTurnedOn) = (budget.allowance, hasSwitched, wasTurnedOn)
        switches = CaptureSwitch.switches.load(ordering: .relaxed)
        switch CaptureSwitch.state {
        // The service switched capture on: all work is allowed again.
        case .on where wasTurnedOn: restart()
        case .on, .paused: judge()
        case .off: break
        case .failed(let reason): log.warn(of: .off, "Capture is off: \(reason)")
        }
        last = CaptureSwitch.state
        return hasSwitched || budget.allowance != before
    }

    private mutating func restart() {
        if budget.allowance != .everything { log.warning("Capture was switched on and does everything again") }
        budget.restart(at: Self.cost(board))
        recorder.allow(.everything)
        log.noteEnd(of: .off, "Capture is on again")
    }

    private mutating func judge() {
        let before = budget.allowance
        budget.judge(Self.cost(board))
        let allowance = budget.allowance
        guard allowance != before else { return }
        let reason = budget.pause.map { Self.reason(of: $0, at: allowance) }
        recorder.allow(allowance, because: reason)
        if allowance == .nothing { CaptureSwitch.pause(because: reason ?? "") }
        if before == .nothing {
            URLSessionCapture.forgetWaiting()
            CaptureSwitch.resume()
        }
        log.warning(sentence(from: before))
    }

    private func sentence(from before: Allowance) -> String {
        let isLess = budget.allowance.rawValue > before.rawValue
        let change = isLess ? Self.givenUp(at: budget.allowance) : Self.takenBack(after: before)
        return "\(change): \(budget.figures)" + (isLess ? budget.pause.map(Self.next) ?? "" : "")
    }

    /// Returns the reason that `status` shows and the collector gets.
    private static func reason(of pause: StepPause, at allowance: Allowance) -> String {
        switch allowance {
        case .everything, .withoutDetails: "no details are kept: \(pause.reason)"
        case .countsOnly: "no details, phases, trace headers or spans: \(pause.reason)"
        case .nothing: "paused: \(pause.reason)"
        }
    }

    // MARK: In the log

    private static func givenUp(at allowance: Allowance) -> String {
        switch allowance {
        case .everything, .withoutDetails: "No details of requests are kept"
        case .countsOnly: "Requests are counted without phases, trace headers and spans"
        case .nothing: "Capture is paused"
        }
    }

    private static func takenBack(after allowance: Allowance) -> String {
        switch allowance {
        case .everything, .withoutDetails: "Details of requests are kept again"
        case .countsOnly: "Requests have phases, trace headers and spans again"
        case .nothing: "Capture has resumed and counts requests again"
        }
    }

    private static func next(_ pause: StepPause) -> String {
        "; the next attempt is in \(pause.length.components.seconds) s"
    }

    private static func cost(_ board: StatusBoard) -> AgentBudget.Cost {
        AgentBudget.Cost(
            time: Clock.monotonic(), agentCPU: AgentCost.total,
            processCPU: Clock.processCPU(), memoryBytes: board.takeMostMemory())
    }
}
