/// A batch on its way to the collector.
struct Upload: Sendable {
    let url: String
    let headers: [(name: String, value: String)]
    let body: [UInt8]
    let timeout: Duration
}
