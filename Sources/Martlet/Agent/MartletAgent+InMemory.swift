extension MartletAgent {
    /// Starts an agent for tests: it captures as the real one does, and keeps what it captured for the test to assert on
    /// (``requests``). It needs no collector, writes no file, has no thread and uploads nothing.
    ///
    /// It takes the place of the process's agent until this value's ``shutdown(within:)``: it sees the requests of the whole process
    /// that are made outside the scopes of ``inMemory(_:isolation:_:)``, of several such agents the newest, and a
    /// ``start(_:)`` returns it. Tests that run in parallel have a scope each instead. Thread-safe.
    ///
    ///     let agent = MartletAgent.inMemory()
    ///     _ = try await URLSession.shared.data(from: url)
    ///     #expect(agent.requests.map(\.endpoint) == ["/users/{id}"])
    ///     await agent.shutdown()
    ///
    /// - Parameter configuration: what to capture and how to name it; what is said there of uploads, buffer and interval has
    ///   no meaning. The defaults do not look at the environment.
    public static func inMemory(_ configuration: MartletConfiguration = MartletConfiguration()) -> MartletAgent {
        MartletAgent(RunningAgents.add(AgentCore(inMemory: configuration)), isOwner: true)
    }

    /// Runs `body` with an agent as that of ``inMemory(_:)``, which sees the requests that are made within `body`, by its
    /// task and the tasks that it starts, and no others; nor does any other agent see them. So tests that run in parallel
    /// each have their own. The agent ends with `body`.
    ///
    ///     try await MartletAgent.inMemory { agent in
    ///         try await checkout.buy()
    ///         #expect(agent.requests.count == 3)
    ///     }
    ///
    /// A request belongs to the scope in which its task is resumed, a span to that in which it starts; a detached task and a
    /// thread or queue of one's own are outside. A ``start(_:)`` in `body` returns this agent. Every session is seen,
    /// whatever `configuration` says of explicit capture.
    public static func inMemory<Result>(
        _ configuration: MartletConfiguration = MartletConfiguration(), isolation: isolated (any Actor)? = #isolation,
        _ body: (MartletAgent) async throws -> Result
    ) async rethrows -> Result {
        let scope = CaptureScope()
        let core = RunningAgents.add(AgentCore(inMemory: configuration, scope: scope))
        defer { RunningAgents.release(core, isOwner: true) }
        return try await CaptureScope.$current.withValue(scope) { try await body(MartletAgent(core)) }
    }

    /// The requests that an agent in memory has captured, in the order in which they ended; empty for any other agent. A
    /// request is here before its caller has its answer, so that nothing has to be awaited. Of more than 100,000 the oldest
    /// are gone.
    public var requests: [MartletRequest] { core.recorder.memory?.requests ?? [] }
}
