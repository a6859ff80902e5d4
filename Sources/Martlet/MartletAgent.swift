public final class MartletAgent: Sendable {
    public static func start() -> MartletAgent { MartletAgent() }
    public func flush() async {}
    public func shutdown(within limit: Duration) async {}
    public func run() async throws {}
}
