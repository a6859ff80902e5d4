/// What `FaultProgram` prints at its end: the agent's account of this process.
struct ServiceEnd: Decodable {
    let captured: Int
    let delivered: Int
    let waiting: Int
    let dropped: [String: Int]
    let shutdownSeconds: Double

    var lost: Int { dropped.values.reduce(0, +) }
}
