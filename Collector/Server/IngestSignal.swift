/// What a path under `/v1` takes. As few as there are, whatever is asked for.
enum IngestSignal: String {
    case metrics, traces, logs, other

    /// `nil` where the path does not lie under `/v1`.
    init?(path: String) {
        let parts = path.split(separator: "/")
        guard parts.first == "v1" else { return nil }
        self = parts.count == 2 ? Self(rawValue: String(parts[1])) ?? .other : .other
    }
}
