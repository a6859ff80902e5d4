/// The account of a process's agent that `FaultProgram` prints at its end.
struct ServiceEnd: Decodable {
    let captured: Int
    let delivered: Int
    let waiting: Int
    let dropped: [String: Int]
    let shutdownSeconds: Double

    var lost: Int { dropped.values.reduce(0, +) }
}
