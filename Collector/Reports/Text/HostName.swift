/// A host as it is read. Some senders do not tell the host of a request.
package enum HostName {
    package static func text(_ host: String) -> String { host.isEmpty ? "host not told" : host }
}
