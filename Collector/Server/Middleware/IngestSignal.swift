/// The signal of a path under `/v1`. All unknown paths are ``other``, so that the number of signals stays small.
enum IngestSignal: String {
    case metrics, traces, logs, other

    /// `nil` if the path is not under `/v1`.
    init?(path: String) {
        let parts = path.split(separator: "/")
        guard parts.first == "v1" else { return nil }
        self = parts.count == 2 ? Self(rawValue: String(parts[1])) ?? .other : .other
    }
}
