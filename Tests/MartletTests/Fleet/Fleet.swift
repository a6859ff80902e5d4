import Foundation

@testable import Martlet

/// A fleet whose collector is down for a while, in virtual time.
struct Fleet {
    /// The terms of a run. Times are in seconds.
    struct Terms {
        var agents = 10_000
        var outage = 3600.0
        /// The rate at which a collector stores batches, as a multiple of the rate at which the fleet makes them.
        var capacity = 2.0
        var retryAfter = 1.0
        var collectors = 1
        var isPaced = true
        var isJittered = true

        /// The rate of one collector; an agent makes two batches in ten seconds.
        var batchesPerSecond: Double { Double(agents) / 5 * capacity }
        /// Requests that a collector handles at once: 192 MiB for batches of 64 KiB, with 10,000 agents.
        var room: Int { agents * 3 / 10 }
    }

    struct Result {
        /// Seconds from the collector's recovery until half of the agents, or all of them, had no batch of the outage
        /// left.
        var half = 0.0
        var all = 0.0
        var collectors: [SimulatedCollector] = []
    }

    private let terms: Terms
    private let addresses: [URL]
    private var collectors: [URL: SimulatedCollector] = [:]
    private var agents: [SimulatedAgent]
    private var events = EventQueue()
    private var random = Randomness(seed: 1)
    private let back: UInt64
    /// Whether each agent has delivered all batches of the outage.
    private var drained: [Bool]
    private var drainedCount = 0
    private var result = Result()

    init(_ terms: Terms) {
        self.terms = terms
        // The outage begins when every agent has sent something.
        let start = Self.interval * 6
        let back = start + UInt64(terms.outage * 1e9)
        self.back = back
        addresses = (0..<terms.collectors).compactMap { URL(string: "http://collector-\($0):4318") }
        for (number, address) in addresses.enumerated() {
            collectors[address] = SimulatedCollector(
                service: UInt64(1e9 / terms.batchesPerSecond), room: terms.room, retryAfter: .seconds(terms.retryAfter),
                store: "one", away: number == 0 ? start..<back : 0..<0)
        }
        let addresses = addresses
        agents = (0..<terms.agents).map {
            SimulatedAgent(
                $0, collectors: addresses, pacing: terms.isPaced ? .nanoseconds(Int64(Self.interval)) : .zero,
                isJittered: terms.isJittered)
        }
        drained = Array(repeating: false, count: terms.agents)
        for agent in agents.indices {
            let phase = UInt64(random.next() * Double(Self.interval))
            events.add(.init(time: phase, agent: agent, kind: .seal))
        }
    }

    mutating func run() -> Result {
        // A fleet that does not catch up in four hours never will.
        let limit = back + 4 * 3600 * 1_000_000_000
        while drainedCount < agents.count, let event = events.next(), event.time < limit { handle(event) }
        if drainedCount < agents.count { result.all = .infinity }
        if drainedCount * 2 < agents.count { result.half = .infinity }
        result.collectors = addresses.compactMap { collectors[$0] }
        return result
    }

    private mutating func handle(_ event: EventQueue.Event) {
        let (agent, now) = (event.agent, event.time)
        switch event.kind {
        case .seal:
            agents[agent].seal()
            events.add(.init(time: now + Self.interval, agent: agent, kind: .seal))
            if !agents[agent].isBusy { goOn(agent, agents[agent].begin(at: now), at: now) }
        case .turn:
            if agents[agent].turn == now { goOn(agent, agents[agent].begin(at: now), at: now) }
        case .end:
            goOn(agent, agents[agent].end(at: now, using: &random), at: now)
            // Batches are sent in order, so the last two belong to the last interval.
            if now > back, !drained[agent], agents[agent].waiting <= 2 { noteDrained(agent, at: now) }
        }
    }

    private mutating func goOn(_ agent: Int, _ address: URL?, at now: UInt64) {
        if let address, let taken = collectors[address]?.take(at: now, timeout: Self.timeout) {
            agents[agent].await(taken.end)
            events.add(.init(time: taken.time, agent: agent, kind: .end))
        } else if agents[agent].turn < .max {
            events.add(.init(time: agents[agent].turn, agent: agent, kind: .turn))
        }
    }

    private mutating func noteDrained(_ agent: Int, at now: UInt64) {
        drained[agent] = true
        drainedCount += 1
        let seconds = Double(now - back) / 1e9
        if drainedCount * 2 == agents.count { result.half = seconds }
        result.all = seconds
    }

    /// Nanoseconds.
    private static let interval: UInt64 = 10_000_000_000
    private static let timeout: UInt64 = 10_000_000_000
}
