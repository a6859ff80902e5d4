/// The agent's report, which `FaultProgram` prints when it ends.
struct AgentReport: Decodable {
    let captured: Int
    let delivered: Int
    let waiting: Int
    let dropped: [String: Int]
    let shutdownSeconds: Double

    var lost: Int { dropped.values.reduce(0, +) }
}
