import Foundation
import Logging

/// Parses the texts of variables. Each function returns `nil` for a text that it cannot read.
enum EnvironmentValue {
    /// true/false/1/0/yes/no/on/off, in any case.
    static func boolean(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "1", "yes", "on": true
        case "false", "0", "no", "off": false
        default: nil
        }
    }

    /// `64MiB`, `500KB`, `2GB`, plain bytes.
    static func bytes(_ text: String) -> Int? {
        let units = [
            "": 1.0, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KIB": 0x1p10, "MIB": 0x1p20, "GIB": 0x1p30,
        ]
        return quantity(text, units: units).flatMap { $0 < 0x1p62 ? Int($0) : nil }
    }

    /// A number of bytes greater than 0, because with none the agent would do nothing.
    static func budget(_ text: String) -> Int? {
        bytes(text).flatMap { $0 > 0 ? $0 : nil }
    }

    /// Bytes of a body, at most ``MartletLimits/bodyLimit``, so that one request cannot fill the agent's memory.
    static func bodyLimit(_ text: String) -> Int? {
        bytes(text).flatMap { $0 <= MartletLimits.bodyLimit ? $0 : nil }
    }

    /// `10s`, `500ms`, `1m`, `2h`, plain seconds; at most a year.
    static func duration(_ text: String) -> Duration? {
        quantity(text, units: ["": 1, "MS": 1e-3, "S": 1, "M": 60, "H": 3600]).flatMap(seconds)
    }

    /// A duration of at least ``MartletLimits/shortestInterval``; with a shorter one the agent would be busy all the
    /// time.
    static func interval(_ text: String) -> Duration? {
        duration(text).flatMap(interval)
    }

    static func interval(_ duration: Duration) -> Duration? {
        duration >= MartletLimits.shortestInterval ? duration : nil
    }

    /// A duration in the form of the OpenTelemetry specification: whole milliseconds.
    static func milliseconds(_ text: String) -> Duration? {
        Int(text).flatMap { seconds(Double($0) / 1000) }
    }

    /// `10%`, or a number from 0 to 1.
    static func share(_ text: String) -> Double? {
        let share = text.hasSuffix("%") ? Double(text.dropLast()).map { $0 / 100 } : Double(text)
        return share.flatMap { (0...1).contains($0) ? $0 : nil }
    }

    /// A share greater than 0.
    static func positiveShare(_ text: String) -> Double? {
        share(text).flatMap { $0 > 0 ? $0 : nil }
    }

    static func positiveInteger(_ text: String) -> Int? {
        Int(text).flatMap { $0 > 0 ? $0 : nil }
    }

    static func choice<T: RawRepresentable>(_ text: String) -> T? where T.RawValue == String {
        T(rawValue: text.lowercased())
    }

    /// Comma-separated items; blanks around an item are ignored. `nil` if `valid` rejects an item.
    static func list(_ text: String, valid: (String) -> Bool) -> [String]? {
        let items = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        return items.allSatisfy(valid) ? items : nil
    }

    /// A name for people: no control characters, at most 255 bytes.
    static func name(_ text: String) -> String? {
        text.utf8.count <= 255 && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
            ? text : nil
    }

    /// A bearer token: visible ASCII (RFC 6750, section 2.1, and further characters that servers accept).
    static func token(_ text: String) -> String? {
        text.utf8.allSatisfy { (0x21...0x7e).contains($0) } ? text : nil
    }

    /// A header field's name (RFC 9110, section 5.6.2).
    static func isFieldName(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
        }
    }

    /// Comma-separated names of header fields, `all`, or `none`.
    static func headers(_ text: String) -> CapturedHeaders? {
        switch text.lowercased() {
        case "none": CapturedHeaders.none
        case "all": .all
        default: list(text, valid: isFieldName).map { .named(Set($0)) }
        }
    }

    /// A glob on `host[:port][/path]`: visible ASCII without the parts of a URL that are never compared, such as its scheme.
    static func isGlob(_ text: String) -> Bool {
        token(text) != nil && !text.contains { "?#@\\".contains($0) } && !text.contains("://")
    }

    /// An absolute http or https URL with a host and a possible port, without query and fragment.
    static func address(_ text: String) -> URL? { url(text, schemes: ["http", "https"]) }

    /// The URL of a proxy, with one of libcurl's schemes (CURLOPT_PROXY).
    static func proxy(_ text: String) -> URL? {
        url(text, schemes: ["http", "https", "socks4", "socks4a", "socks5", "socks5h"])
    }

    private static func url(_ text: String, schemes: Set<String>) -> URL? {
        guard name(text) != nil, let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty,
            schemes.contains(parts.scheme?.lowercased() ?? ""), parts.query == nil, parts.fragment == nil,
            parts.port.map((1...65535).contains) ?? true
        else { return nil }
        return parts.url
    }

    /// Comma-separated URLs, each as ``address(_:)`` reads it.
    static func addresses(_ text: String) -> [URL]? {
        list(text) { address($0) != nil }?.compactMap(address)
    }

    /// A directory's path that begins with `/`, `./` or `../`.
    static func directory(_ text: String) -> URL? {
        guard ["/", "./", "../"].contains(where: text.hasPrefix) else { return nil }
        return name(text).map { URL(fileURLWithPath: $0, isDirectory: true) }
    }

    /// A file's path, relative to the process's working directory unless it begins with `/`.
    static func file(_ text: String) -> URL? { name(text).map { URL(fileURLWithPath: $0) } }

    /// swift-log's names of levels, and the specification's `warn`.
    static func logLevel(_ text: String) -> Logger.Level? {
        text.lowercased() == "warn" ? .warning : choice(text)
    }

    // MARK: -

    private static func quantity(_ text: String, units: [String: Double]) -> Double? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard let number = Double(digits), number.isFinite,
            let unit = units[text.dropFirst(digits.count).trimmingCharacters(in: .whitespaces).uppercased()]
        else { return nil }
        return number * unit
    }

    private static func seconds(_ seconds: Double) -> Duration? {
        (0...31_536_000).contains(seconds) ? .nanoseconds(Int64(seconds * 1e9)) : nil
    }
}

/// Values in the forms of the OpenTelemetry specification, where these differ from Martlet's.
extension EnvironmentValue {
    /// `true` or `false` in any case. Any other text is an error and counts as `false`.
    static func specificationBoolean(_ text: String) -> Bool? {
        ["true": true, "false": false][text.lowercased()]
    }

    /// A number from 0 to 1.
    static func ratio(_ text: String) -> Double? {
        Double(text).flatMap { (0...1).contains($0) ? $0 : nil }
    }

    /// `key=value,key=value`, percent-encoded (W3C Baggage).
    static func specificationPairs(_ text: String) -> [String: String]? {
        var pairs: [String: String] = [:]
        for item in text.split(separator: ",") {
            guard let separator = item.firstIndex(of: "="),
                let value = item[item.index(after: separator)...].removingPercentEncoding, name(value) != nil
            else { return nil }
            pairs[item[..<separator].trimmingCharacters(in: .whitespaces)] = value.trimmingCharacters(in: .whitespaces)
        }
        return pairs
    }

    /// `name=value` with a percent-encoded value, if uploads can have that header field (specification, "OTLP Exporter
    /// Configuration", section "Specifying headers via environment variables").
    static func specificationHeader(_ text: String) -> (name: String, value: String)? {
        guard let separator = text.firstIndex(of: "="),
            let decoded = text[text.index(after: separator)...].removingPercentEncoding
        else { return nil }
        let name = text[..<separator].trimmingCharacters(in: .whitespaces)
        let value = decoded.trimmingCharacters(in: .whitespaces)
        return UploadHeader.isAllowed(name, value) ? (name, value) : nil
    }

    /// `delta`, `cumulative`, or `lowmemory`, which asks for deltas of histograms (specification, "Metrics Exporter - OTLP").
    static func temporality(_ text: String) -> MartletConfiguration.Temporality? {
        text.lowercased() == "lowmemory" ? .delta : choice(text)
    }

    /// Whether a list of propagators has W3C Trace Context, the only one that Martlet knows.
    static func specificationPropagation(_ text: String) -> Bool? {
        let propagators = list(text.lowercased()) { !$0.isEmpty && name($0) != nil }
        return propagators?.contains("tracecontext")
    }
}

/// The rules for header fields that the service adds to uploads.
enum UploadHeader {
    /// Fields that control how a body is read or a connection is used. The agent and its transports set them.
    private static let reserved: Set = [
        "connection", "content-encoding", "content-length", "content-type", "expect", "host", "keep-alive",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// Whether uploads can have the field. The agent must not set a field of that name itself, and the value must be
    /// visible ASCII, blanks and tabs (RFC 9110, section 5.5), and not empty.
    static func isAllowed(_ name: String, _ value: String) -> Bool {
        let lowercased = name.lowercased()
        return !name.isEmpty && EnvironmentValue.isFieldName(name) && !reserved.contains(lowercased)
            && !lowercased.hasPrefix("martlet-") && !value.isEmpty
            && value.utf8.allSatisfy { (0x20...0x7e).contains($0) || $0 == 0x09 }
    }
}
