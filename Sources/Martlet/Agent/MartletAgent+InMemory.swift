extension MartletAgent {
    /// Starts an agent for tests. It captures as the real one does, and keeps the captured requests for the test to assert on
    /// (``requests``). It needs no collector, writes no file, has no thread and uploads nothing.
    ///
    /// It replaces the process's agent until this value's ``shutdown(within:)``, and a ``start(_:)`` returns it. It sees the
    /// requests of the whole process that are made outside the scopes of ``inMemory(_:isolation:_:)``; of several such
    /// agents, the newest sees them. Tests that run in parallel have a scope each instead. Thread-safe.
    ///
    ///     let agent = MartletAgent.inMemory()
    ///     _ = try await URLSession.shared.data(from: url)
    ///     #expect(agent.requests.map(\.endpoint) == ["/users/{id}"])
    ///     await agent.shutdown()
    ///
    /// - Parameter configuration: the requests to capture and the names of their endpoints. Its settings of uploads, buffer
    ///   and interval have no meaning. The defaults do not look at the environment.
    public static func inMemory(_ configuration: MartletConfiguration = MartletConfiguration()) -> MartletAgent {
        MartletAgent(RunningAgents.add(AgentCore(inMemory: configuration)), isOwner: true)
    }

    /// Runs `body` with an agent like that of ``inMemory(_:)``. It sees only the requests that are made within `body`, by its
    /// task and the tasks that it starts, and no other agent sees them. So tests that run in parallel each have their own.
    /// The agent ends with `body`.
    ///
    ///     try await MartletAgent.inMemory { agent in
    ///         try await checkout.buy()
    ///         #expect(agent.requests.count == 3)
    ///     }
    ///
    /// A request belongs to the scope in which its task is resumed, a span to the scope in which it starts. A detached task,
    /// and a thread or queue of one's own, are outside. A ``start(_:)`` in `body` returns this agent. Every session is seen,
    /// even if `configuration` asks for explicit capture.
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
    /// request is here before its caller has its answer, so a test need not wait for it. Past 100,000 requests the oldest are
    /// removed.
    public var requests: [MartletRequest] { core.recorder.recordedRequests?.all ?? [] }
}
