/// Senders, the most recently seen first.
package struct AgentsAnswer: Sendable, Equatable {
    package var agents: [AgentRecord]
    /// The number of senders past the limit.
    package var more: Int

    package init(agents: [AgentRecord], more: Int) {
        self.agents = agents
        self.more = more
    }
}
