extension RequestReport {
    /// The address that the request was sent to. A served request tells only the path; its header or its span may tell the host. `nil`
    /// if the address or its host is not kept.
    package var address: String? {
        guard let url = summary.url, url.hasPrefix("/") else { return summary.url }
        let host = requestHeaders["host"]?.first ?? summary.host
        guard !host.isEmpty else { return nil }
        return "\(attributes["url.scheme"] ?? "http")://\(host)\(url)"
    }
}
