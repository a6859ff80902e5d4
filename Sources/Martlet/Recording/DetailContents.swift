import Foundation

/// Which header fields and bodies kept details have, and how secrets are taken out of them.
struct DetailContents: Sendable {
    let headers: CapturedHeaders
    let redaction: Redaction
    /// Bytes that are kept of a body. One more tells that it goes on.
    let bodyLimit: Int
    private let bodies: CapturedBodies

    init(_ configuration: MartletConfiguration) {
        headers = configuration.captureHeaders
        redaction = Redaction(adding: configuration.redact, keepsSegments: configuration.capturePaths)
        bodies = configuration.captureBodies
        bodyLimit = configuration.bodyLimit
    }

    /// Whether bodies may be asked for.
    var hasBodies: Bool { bodies != .none }

    /// The fields that were asked for, in the order of their names, as far as they find room.
    func fields(of all: @autoclosure () -> [AnyHashable: Any]?) -> HeaderFields {
        var fields = HeaderFields()
        guard headers != .none, let all = all() else { return fields }
        let named = all.compactMap { name, value in
            (name as? String).flatMap { name in (value as? String).map { (name: name, value: $0) } }
        }
        for field in named.sorted(by: { $0.name < $1.name }) where headers.contains(field.name) { fields.add(field) }
        return fields
    }

    /// The beginning of a body, copied, so that no more of it stays in memory; `nil` where it is not asked for.
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
    /// Fields that found no room.
    private(set) var dropped: UInt32 = 0

    fileprivate mutating func add(_ field: (name: String, value: String)) {
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
