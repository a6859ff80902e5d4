import Foundation

/// Which header fields and bodies kept details have, and how secrets are taken out of them.
struct DetailContents: Sendable {
    let headers: CapturedHeaders
    let redaction: Redaction
    private let bodies: CapturedBodies
    private let bodyLimit: Int

    init(_ configuration: MartletConfiguration) {
        headers = configuration.captureHeaders
        redaction = Redaction(adding: configuration.redact)
        bodies = configuration.captureBodies
        bodyLimit = configuration.bodyLimit
    }

    /// Whether bodies may be asked for.
    var hasBodies: Bool { bodies != .none }

    /// The beginning of a body, copied, so that no more of it stays in memory; `nil` where it is not asked for.
    func sample(_ body: Data?, contentType: String?, isFailure: Bool) -> BodySample? {
        guard let body, !body.isEmpty, bodies == .all || (bodies == .failures && isFailure) else { return nil }
        return BodySample(
            bytes: [UInt8](body.prefix(bodyLimit)), contentType: contentType, isTruncated: body.count > bodyLimit)
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
