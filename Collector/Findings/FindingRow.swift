/// The dimensions of a row: requests that are counted together.
package struct FindingRow: Sendable, Hashable {
    /// Which end of the requests counted them.
    package enum Kind: String, Sendable, Hashable, Codable {
        case client
        case server
    }

    package var service: String
    package var kind: Kind
    /// `nil` for all that a service serves.
    package var method: String?
    /// The called host with its port, or the host that a server was called by.
    package var host: String?
    /// `nil` for all that a service serves.
    package var endpoint: String?

    package init(service: String, kind: Kind, method: String?, host: String?, endpoint: String?) {
        (self.service, self.kind, self.method, self.host, self.endpoint) = (service, kind, method, host, endpoint)
    }

    /// Returns the row of all requests that a service serves. It shows trouble that is spread thinly over the endpoints.
    static func total(of service: String) -> FindingRow {
        FindingRow(service: service, kind: .server, method: nil, host: nil, endpoint: nil)
    }

    var isTotal: Bool { endpoint == nil }

    /// The subject of a finding about the row.
    var subject: FindingSubject {
        FindingSubject(
            service: service, kind: kind, method: method, host: kind == .client ? host : nil, endpoint: endpoint)
    }
}

/// Where an episode takes place: at a row, by its index, or at the processes of a service.
enum Place: Hashable {
    case row(Int)
    case service(String)

    var row: Int? { if case .row(let index) = self { index } else { nil } }
}
