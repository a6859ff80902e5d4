/// The agent's report that `FaultProgram` prints at its end.
struct AgentReport: Decodable {
    let captured: Int
    let delivered: Int
    let waiting: Int
    let dropped: [String: Int]
    let shutdownSeconds: Double

    var lost: Int { dropped.values.reduce(0, +) }
}
