import Foundation

/// The header fields and bodies that kept details contain, and the redaction that removes secrets from them.
struct DetailContents: Sendable {
    let headers: CapturedHeaders
    let redaction: Redaction
    /// The number of bytes kept of a body. One more byte is read, to find out whether the body continues.
    let bodyLimit: Int
    private let bodies: CapturedBodies

    init(_ configuration: MartletConfiguration) {
        headers = configuration.captureHeaders
        redaction = Redaction(adding: configuration.redact, keepsSegments: configuration.capturePaths)
        bodies = configuration.captureBodies
        bodyLimit = configuration.bodyLimit
    }

    /// Whether details of some requests contain bodies.
    var hasBodies: Bool { bodies != .none }

    /// Returns the configured header fields, sorted by name, within ``MartletLimits/headerBytes``.
    func fields(of all: @autoclosure () -> [AnyHashable: Any]?) -> HeaderFields {
        var fields = HeaderFields()
        guard headers != .none, let all = all() else { return fields }
        let named = all.compactMap { name, value in
            (name as? String).flatMap { name in (value as? String).map { (name: name, value: $0) } }
        }
        for field in named.sorted(by: { $0.name < $1.name }) where headers.contains(field.name) { fields.add(field) }
        return fields
    }

    /// Returns a copy of a body's beginning, so that the rest can be released; `nil` for an empty body, or one that the
    /// configuration does not ask for.
    func sample(
        _ body: @autoclosure () -> Data?, contentType: @autoclosure () -> String?, isFailure: Bool
    ) -> BodySample? {
        guard bodies == .all || (bodies == .failures && isFailure), let body = body(), !body.isEmpty else { return nil }
        return BodySample(
            bytes: [UInt8](body.prefix(bodyLimit)), contentType: contentType(), isTruncated: body.count > bodyLimit)
    }
}

/// Header fields within ``MartletLimits/headerBytes``.
struct HeaderFields: Sendable {
    private(set) var kept: [(name: String, value: String)] = []
    private(set) var bytes = 0
    /// The number of fields that exceeded the limit.
    private(set) var dropped: UInt32 = 0

    mutating func add(_ field: (name: String, value: String)) {
        let size = field.name.utf8.count + field.value.utf8.count
        guard size <= MartletLimits.headerBytes - bytes else { return dropped &+= 1 }
        kept.append(field)
        bytes += size
    }
}

/// The beginning of a body.
struct BodySample: Sendable {
    let bytes: [UInt8]
    let contentType: String?
    let isTruncated: Bool

    func text(_ redaction: Redaction) -> String? {
        redaction.body(bytes, contentType: contentType, isTruncated: isTruncated)
    }
}
